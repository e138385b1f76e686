"""Pooling over the part of each window that lies in the input."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from hexsim.binding.call import Codes, Int32
from hexsim.binding.pooling import BoundAveragePool, BoundMaxPool
from hexsim.int8.jit import template
from hexsim.int8.lookup import look_up
from hexsim.int8.padded import Int64
from hexsim.int8.prepared import SUM_BYTES, Out
from hexsim.int8.requantise import requantise
from hexsim.layers import Window


class PreparedMaxPool:
    """Maximum of codes, then the table."""

    def __init__(self, call: BoundMaxPool) -> None:
        self._window = _window(call.window)
        self._table = call.table

    def __call__(self, inputs: Sequence[Codes], output: Out) -> None:
        """See PreparedCall."""
        _max_pool(output.dtype)(inputs[0], self._window, output)
        if self._table is not None:
            look_up(output, self._table.reshape(1, -1), output)


class PreparedAveragePool:
    """Sum of codes, requantised by the constants of the pixel's count."""

    def __init__(self, call: BoundAveragePool) -> None:
        self._window = _window(call.window)
        self._zero_point = call.inputs[0].zero_point
        self._tail = call.tail
        self._tail_of = call.tail_of

    def __call__(self, inputs: Sequence[Codes], output: Out) -> None:
        """See PreparedCall."""
        tail = self._tail
        _average_pool(output.dtype)(
            inputs[0], self._window, self._zero_point, self._tail_of, tail.preload,
            tail.multiplier, tail.shift, tail.low, tail.high, output,
            np.empty(output.shape[-1], np.int32),
        )  # fmt: skip


def _window(window: Window) -> Int64:
    """Kernel, strides, dilations and first pads as (4, 2) rows of (height, width)."""
    rows = [window.kernel, window.strides, window.dilations, window.pads[:2]]
    return np.array(rows, np.int64)


@template("void({0}[:,:,:,::1],int64[:,::1],{0}[:,:,:,::1])")
def _max_pool(x: Codes, window: Int64, out: Codes) -> None:
    for image in range(out.shape[0]):
        for oy in range(out.shape[1]):
            for ox in range(out.shape[2]):
                best = out[image, oy, ox]
                best[:] = 0
                for ky in range(window[0, 0]):
                    y = oy * window[1, 0] - window[3, 0] + ky * window[2, 0]
                    if y < 0 or y >= x.shape[1]:
                        continue
                    for kx in range(window[0, 1]):
                        xx = ox * window[1, 1] - window[3, 1] + kx * window[2, 1]
                        if xx < 0 or xx >= x.shape[2]:
                            continue
                        pixel = x[image, y, xx]
                        for c in range(best.size):
                            best[c] = max(best[c], pixel[c])


@template(
    "void(uint8[:,:,:,::1],int64[:,::1],int32,int32[:,::1],int32[::1],int32[::1],int32[::1],"
    "int32,int32,{0}[:,:,:,::1],int32[::1])"
)
def _average_pool(
    x: Codes,
    window: Int64,
    zero_point: int,
    tail_of: Int32,
    preload: Int32,
    multiplier: Int32,
    shift: Int32,
    low: int,
    high: int,
    out: Out,
    sums: Int32,
) -> None:
    for image in range(out.shape[0]):
        for oy in range(out.shape[1]):
            for ox in range(out.shape[2]):
                tail = tail_of[oy, ox]
                sums[:] = preload[tail]
                for ky in range(window[0, 0]):
                    y = oy * window[1, 0] - window[3, 0] + ky * window[2, 0]
                    if y < 0 or y >= x.shape[1]:
                        continue
                    for kx in range(window[0, 1]):
                        xx = ox * window[1, 1] - window[3, 1] + kx * window[2, 1]
                        if xx < 0 or xx >= x.shape[2]:
                            continue
                        pixel = x[image, y, xx]
                        for c in range(sums.size):
                            sums[c] += np.int32(np.int32(pixel[c]) - zero_point)
                row = out[image, oy, ox]
                if out.itemsize == SUM_BYTES:
                    for c in range(sums.size):
                        row[c] = sums[c]
                else:
                    for c in range(sums.size):
                        row[c] = requantise(sums[c], multiplier[tail], shift[tail], low, high)
