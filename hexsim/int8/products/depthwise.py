"""Depthwise convolution: every channel its own sum; batch norm is one with a single tap."""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np

from hexsim.binding.batch_norm import BoundBatchNorm
from hexsim.binding.call import Codes, Int32
from hexsim.binding.convolution import BoundConvolution
from hexsim.binding.requantize import Requantize
from hexsim.graph.ir import Shape
from hexsim.int8.algorithm import use_vectors
from hexsim.int8.machine_code.inner_loops.depthwise_tile import BY_CHANNEL, ORDER
from hexsim.int8.machine_code.jit import template
from hexsim.int8.panel import COLUMNS, SUM_BYTES
from hexsim.int8.prepared import Out, Preparers
from hexsim.int8.products.arguments import Taps
from hexsim.int8.products.padded import Int16, PaddedInput
from hexsim.int8.products.panels import panel_constants
from hexsim.int8.products.taps import pack_taps
from hexsim.int8.products.tiled_product import convolve_channels
from hexsim.int8.products.tiles import PanelTable, Tiles
from hexsim.int8.requantize.constants import Tails, all_tails
from hexsim.int8.requantize.scalar import requantize
from hexsim.int8.step import FIRST, LAST, Scratch, Step, Work, Workspace
from hexsim.layers import Window


class PreparedDepthwise:
    """As many groups as input channels, one output channel each.

    `weights` is (taps, channels); `shape` the NHWC shape as which the input is read.
    """

    def __init__(
        self, shape: Shape, zero_point: int, window: Window, weights: Int16, tail: Requantize
    ) -> None:
        self._padded = PaddedInput(shape, window, zero_point)
        self._starts = self._padded.starts()
        self._offsets = self._padded.tap_offsets().ravel()
        self._weights = np.ascontiguousarray(weights).reshape(-1)
        self._tail = tail
        self._tiles = self._tiled(weights) if use_vectors() else None

    def _tiled(self, weights: Int16) -> Tiles:
        item_bytes, channels = weights.itemsize, self._padded.shape[3]
        pairs = -(-self._offsets.size // 2)
        offsets = item_bytes * np.append(self._offsets, self._offsets[-1:])[: 2 * pairs]
        panel = np.arange(-(-channels // COLUMNS))
        column = COLUMNS * panel
        table = PanelTable(
            first=panel * pairs, twos=0, ones=pairs, offsets=0, input=item_bytes * column,
            addends=0, column=column, rest=channels - column,
        )  # fmt: skip
        per_channel = all_tails(self._tail)[:3]
        constants = panel_constants(per_channel, 1).reshape(-1, COLUMNS)[:, list(ORDER)]
        return Tiles(
            convolve_channels, BY_CHANNEL, item_bytes * self._starts, offsets, table.stacked(),
            pack_taps(weights.reshape(-1, channels)), constants.reshape(-1), self._tail,
        )  # fmt: skip

    @classmethod
    def of_convolution(cls, call: BoundConvolution) -> PreparedDepthwise:
        """Prepare a convolution with one input and one output channel per group."""
        x, codes = call.inputs[0], call.weights.codes
        weights = codes.astype(np.int16) - np.int16(call.weights.zero_point)
        return cls(x.shape, x.zero_point, call.window, weights.reshape(-1, x.shape[-1]), call.tail)

    @classmethod
    def of_batch_norm(cls, call: BoundBatchNorm) -> PreparedDepthwise:
        """Prepare a batch norm; its 16-bit factors are the weights."""
        x = call.inputs[0]
        pixels, channels = math.prod(x.shape[:-1]), x.shape[-1]
        return cls((1, 1, pixels, channels), x.zero_point, Window((1, 1)), call.factors, call.tail)

    def steps(self, inputs: Sequence[Codes], output: Out, workspace: Workspace) -> list[Work]:
        """See PreparedCall."""
        x, copying = self._padded.copied(inputs[0], workspace)
        if self._tiles is not None:
            return [*copying, self._tiles.step(x, np.empty(0, np.int32), output)]
        taps = Taps(self._starts, self._offsets, self._weights)
        sums = Scratch(self._padded.shape[3], np.int32)
        arguments = (x, taps, all_tails(self._tail), output.reshape(-1), FIRST, LAST, sums)
        return [*copying, Step(_depthwise(output.dtype), arguments, self._starts.size)]


@template("void(int16[::1],Taps,Tails,{0}[::1],int64,int64,int32[::1])")
def _depthwise(
    x: Int16, taps: Taps, tails: Tails, out: Out, first_pixel: int, last_pixel: int, sums: Int32
) -> None:
    starts, offsets, weights, channels = taps.starts, taps.offsets, taps.weights, sums.size
    preload = tails.preload
    multiplier, shift, low, high = tails.multiplier, tails.shift, tails.low, tails.high
    for pixel in range(first_pixel, last_pixel):
        for c in range(channels):
            sums[c] = preload[c]
        for tap in range(offsets.size):
            at = starts[pixel] + offsets[tap]
            a = x[at : at + channels]
            b = weights[tap * channels : (tap + 1) * channels]
            for c in range(channels):
                sums[c] += np.int32(np.int32(a[c]) * np.int32(b[c]))
        row = out[pixel * channels : (pixel + 1) * channels]
        if out.itemsize == SUM_BYTES:
            for c in range(channels):
                row[c] = sums[c]
        else:
            for c in range(channels):
                row[c] = requantize(sums[c], multiplier[c], shift[c], low, high)


PREPARERS: Preparers = {BoundBatchNorm: PreparedDepthwise.of_batch_norm}
