"""Depthwise convolution: every channel has its own sum; batch norm is one with a single tap."""

from __future__ import annotations

import math

import numpy as np

from hexsim.graph.ir import Shape
from hexsim.int8.gemm.arguments import Int16, PaddedInput, Taps
from hexsim.int8.gemm.panels import Int8, Steps, less_codes_zero, pad_to_panels, panel_constants
from hexsim.int8.gemm.self_check import dots_are_exact
from hexsim.int8.gemm.tiled_product import PanelTable, Tiles, convolve_channels
from hexsim.int8.machine_code.features import has_wide_dots, use_vectors, wanted
from hexsim.int8.machine_code.inner_loops.microkernel import RegisterTile
from hexsim.int8.machine_code.inner_loops.tiles import order_of, tile_by_channel
from hexsim.int8.machine_code.jit import template
from hexsim.int8.panel import COLUMNS, STEP_BYTES, SUM_BYTES, together
from hexsim.int8.requantize import RequantizeStages, all_stages, requantize, row_stage
from hexsim.int8.step import ROWS, Buffers, Out, Preparers, Scratch, Step, Work
from hexsim.layers import Window
from hexsim.lowering.lowered_call import Int32, Int64
from hexsim.lowering.normalization import LoweredBatchNorm
from hexsim.lowering.products import LoweredConvolution
from hexsim.lowering.requantize import Requantize


class PreparedDepthwise:
    """A convolution with as many groups as input channels and one output channel each.

    `weights` is (taps, channels); `shape` is the NHWC shape as which the input is read.
    """

    def __init__(
        self, shape: Shape, zero_point: int, window: Window, weights: Int16, stage: Requantize
    ) -> None:
        self._padded = PaddedInput(shape, window, zero_point)
        self._starts = self._padded.starts()
        self._offsets = self._padded.tap_offsets().ravel()
        self._weights, self._stage = weights, stage
        self._tiles = None
        if use_vectors():
            preload = all_stages(stage).preload
            self._tiles = _tiled(self._padded, self._offsets, weights, preload, stage)

    @classmethod
    def of_convolution(cls, call: LoweredConvolution) -> PreparedDepthwise | DepthwiseOfCodes:
        """Prepare a convolution with one input and one output channel per group."""
        x, codes = call.inputs[0], call.weights.codes
        distances = codes.astype(np.int16) - np.int16(call.weights.zero_point)
        weights = distances.reshape(-1, x.shape[-1])
        if wanted() in (None, "dots") and has_wide_dots() and dots_are_exact():
            return DepthwiseOfCodes(call, weights)
        return cls(x.shape, x.zero_point, call.window, weights, call.stage)

    @classmethod
    def of_batch_norm(cls, call: LoweredBatchNorm) -> PreparedDepthwise:
        """Prepare a batch norm; its 16-bit factors are the weights."""
        x = call.inputs[0]
        pixels, channels = math.prod(x.shape[:-1]), x.shape[-1]
        factors = call.factors.reshape(1, channels)
        return cls((1, 1, pixels, channels), x.zero_point, Window((1, 1)), factors, call.stage)

    def steps(self, at: Buffers) -> list[Work]:
        """See PreparedCall."""
        x, copying = self._padded.copied(at.inputs[0], at.workspace)
        if self._tiles is not None:
            return [*copying, self._tiles.step(x, np.empty(0, np.int32), at.output)]
        taps = Taps(self._starts, self._offsets, np.ascontiguousarray(self._weights).reshape(-1))
        sums = Scratch(self._padded.shape[3], np.int32)
        arguments = (x, taps, all_stages(self._stage), at.output.reshape(-1), *ROWS, sums)
        return [*copying, Step(_depthwise(at.output.dtype), arguments, self._starts.size)]


class DepthwiseOfCodes:
    """The same by products of codes and signed bytes; `weights` are distances (taps, channels)."""

    def __init__(self, call: LoweredConvolution, weights: Int16) -> None:
        x, channels = call.inputs[0], call.inputs[0].shape[-1]
        slack = channels % COLUMNS > 0
        self._padded = PaddedInput(x.shape, call.window, x.zero_point, "uint8", slack)
        signed, taps = _in_bytes(weights)
        offsets = self._padded.tap_offsets().ravel()[taps]
        preload = less_codes_zero(all_stages(call.stage).preload, signed, 0, x.zero_point)
        self._tiles = _tiled(self._padded, offsets, signed, preload, call.stage)

    def steps(self, at: Buffers) -> list[Work]:
        """See PreparedCall."""
        x, copying = self._padded.copied(at.inputs[0], at.workspace)
        return [*copying, self._tiles.step(x, np.empty(0, np.int32), at.output)]


def _tiled(
    padded: PaddedInput, offsets: Int64, weights: Steps, preload: Int32, stage: Requantize
) -> Tiles:
    """Return the tiles of `weights` (taps, channels); tap i lies `offsets[i]` behind a start."""
    item_bytes, channels = weights.itemsize, padded.shape[3]
    tile, step = tile_by_channel(item_bytes), STEP_BYTES // item_bytes
    steps = -(-offsets.size // step)
    offsets = np.append(offsets, np.repeat(offsets[-1:], step * steps - offsets.size))
    column = np.arange(0, channels, COLUMNS)
    table = PanelTable(
        first_step=steps * column // COLUMNS, twos=0, ones=steps, offsets=0,
        input=item_bytes * column, addends=0, column=column, rest=channels - column,
    )  # fmt: skip
    order = _channel_order(tile, column.size)
    way, multiplier = row_stage(stage)
    per_channel = [
        pad_to_panels(constant, 1)[order] for constant in (preload, multiplier, stage.shift)
    ]
    return Tiles(
        convolve_channels, tile, item_bytes * padded.starts(), item_bytes * offsets,
        table.stacked(tile), _pack_taps(weights, tile), panel_constants(per_channel, 1), way, stage,
    )  # fmt: skip


@template("void(int16[::1],Taps,RequantizeStages,{0}[::1],int64,int64,int32[::1])")
def _depthwise(
    x: Int16,
    taps: Taps,
    stages: RequantizeStages,
    out: Out,
    first_pixel: int,
    last_pixel: int,
    sums: Int32,
) -> None:
    starts, offsets, weights, channels = taps.starts, taps.offsets, taps.weights, sums.size
    preload = stages.preload
    multiplier, shift, low, high = stages.multiplier, stages.shift, stages.low, stages.high
    for pixel in range(first_pixel, last_pixel):
        for c in range(channels):
            sums[c] = preload[c]
        for tap in range(offsets.size):
            start = starts[pixel] + offsets[tap]
            a = x[start : start + channels]
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


def _channel_order(tile: RegisterTile, panels: int) -> list[int]:
    """Return the channel of each column of all panels, computed as many together as fit."""
    order: list[int] = []
    while panels > 0:
        count = together(panels, tile.panels)
        order += [len(order) + channel for channel in order_of(tile, count)]
        panels -= count
    return order


def _pack_taps(weights: Steps, tile: RegisterTile) -> Steps:
    """Pack (taps, channels) as flat (panels, steps, columns in the tile's order, taps of a
    step)."""
    taps, channels = weights.shape
    step = STEP_BYTES // weights.itemsize
    steps, panels = -(-taps // step), -(-channels // COLUMNS)
    padded = np.zeros((step * steps, panels * COLUMNS), weights.dtype)
    padded[:taps, :channels] = weights
    split = padded[:, _channel_order(tile, panels)].reshape(steps, step, panels, COLUMNS)
    return np.ascontiguousarray(split.transpose(2, 0, 3, 1)).reshape(-1)


def _in_bytes(weights: Int16) -> tuple[Int8, Int64]:
    """Return signed bytes that add up to weights (taps, channels), and the tap of each row.

    The distance of an asymmetric weight from its zero point has 9 bits, so it may take two or
    three.
    """
    rest, tap = weights, np.arange(len(weights))
    rows, taps = [], []
    while tap.size:
        part = rest.clip(-128, 127).astype(np.int8)
        rows.append(part)
        taps.append(tap)
        rest = rest - part
        nonzero = rest.any(axis=1)
        rest, tap = rest[nonzero], tap[nonzero]
    return np.concatenate(rows), np.concatenate(taps)


PREPARERS: Preparers = {LoweredBatchNorm: PreparedDepthwise.of_batch_norm}
