"""Depthwise convolution: every channel its own sum; batch norm is one with a single tap."""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np

from hexsim.binding.batch_norm import BoundBatchNorm
from hexsim.binding.call import Codes, Int32
from hexsim.binding.convolution import BoundConvolution
from hexsim.binding.requantise import Requantise
from hexsim.graph.ir import Shape
from hexsim.int8.choice import use_vectors
from hexsim.int8.depthwise_tile import CHANNELS, PIXELS
from hexsim.int8.jit import template
from hexsim.int8.padded import Int16, Int64, PaddedInput
from hexsim.int8.panels import pad_to_panels
from hexsim.int8.prepared import SUM_BYTES, Out
from hexsim.int8.requantise import requantise
from hexsim.int8.tiled_depthwise import depthwise_tiled, pack
from hexsim.layers import Window


class PreparedDepthwise:
    """As many groups as input channels, one output channel each.

    `weights` is (taps, channels); `shape` the NHWC shape as which the input is read.
    """

    def __init__(
        self, shape: Shape, zero_point: int, window: Window, weights: Int16, tail: Requantise
    ) -> None:
        self._padded = PaddedInput(shape, window, zero_point)
        self._starts = self._padded.starts()
        self._offsets = self._padded.tap_offsets().ravel()
        self._tail = tail
        self._tiled = use_vectors()
        constants = (tail.preload.astype(np.int32, copy=False), tail.multiplier, tail.shift)
        if self._tiled:
            even = np.append(self._offsets, self._offsets[-1:])[: (self._offsets.size + 1) & ~1]
            self._offsets = even * np.dtype(np.int16).itemsize
            self._weights = pack(weights.reshape(-1, shape[3]))
            self._constants = tuple(pad_to_panels(one, 1) for one in constants)
        else:
            self._weights = np.ascontiguousarray(weights).reshape(-1)
            self._constants = constants

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

    def __call__(self, inputs: Sequence[Codes], output: Out) -> None:
        """See PreparedCall."""
        tail, x, channels = self._tail, self._padded.fill(inputs[0]), self._padded.shape[3]
        constants = (self._starts, self._offsets, channels, self._weights, *self._constants)
        pixels = (output.reshape(-1), 0, self._starts.size)
        if self._tiled:
            depthwise_tiled(output.dtype)(
                x, *constants, int(tail.shift.any()), tail.low, tail.high, *pixels,
                np.empty(PIXELS, np.int64), np.empty(PIXELS, np.int32),
                np.empty(PIXELS * CHANNELS, np.int32), np.empty(PIXELS * CHANNELS, np.uint8),
            )  # fmt: skip
        else:
            _depthwise(output.dtype)(
                x, *constants, tail.low, tail.high, *pixels, np.empty(channels, np.int32)
            )


@template(
    "void(int16[::1],int64[::1],int64[::1],int64,int16[::1],int32[::1],int32[::1],int32[::1],"
    "int32,int32,{0}[::1],int64,int64,int32[::1])"
)
def _depthwise(
    x: Int16,
    starts: Int64,
    offsets: Int64,
    channels: int,
    weights: Int16,
    preload: Int32,
    multiplier: Int32,
    shift: Int32,
    low: int,
    high: int,
    out: Out,
    first_pixel: int,
    last_pixel: int,
    sums: Int32,
) -> None:
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
                row[c] = requantise(sums[c], multiplier[c], shift[c], low, high)
