"""Convolution: an implicit matrix product over the padded input.

A window is a few runs of consecutive elements: kernel rows when columns are not dilated, single
taps otherwise. No patch matrix is built; kernels take the start of each output pixel's window and
the offsets of its runs. Two kernels give equal values: one written as plain loops for any CPU, one
around `hexsim.int8.microkernel` for AVX2.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from hexsim.binding.call import Codes, Int32
from hexsim.binding.convolution import BoundConvolution
from hexsim.int8.features import use_avx2
from hexsim.int8.jit import template
from hexsim.int8.microkernel import COLUMNS, ROWS, multiply_tile
from hexsim.int8.padded import Int16, Int64, PaddedInput
from hexsim.int8.prepared import SUM_BYTES, Out
from hexsim.int8.requantise import requantise
from hexsim.int8.vector_requantise import requantise_row

_BLOCK = 96
"""Pixels for which a panel of weights is read once (24 to 768 measured alike with 1 MB of L2)."""


class PreparedConvolution:
    """Dense or grouped convolution."""

    def __init__(self, call: BoundConvolution) -> None:
        window, shape = call.window, call.inputs[0].shape
        self._groups = call.groups
        self._group_channels = shape[3] // call.groups
        self._padded = PaddedInput(shape, window, call.inputs[0].zero_point)
        self._starts = self._padded.starts()
        offsets = self._padded.tap_offsets()
        runs_are_rows = window.dilations[1] == 1 and call.groups == 1
        self._offsets = np.ascontiguousarray(offsets[:, 0] if runs_are_rows else offsets.ravel())

        weights = call.weights.codes.astype(np.int16) - np.int16(call.weights.zero_point)
        columns = weights.shape[-1] // call.groups
        weights = weights.reshape(len(self._offsets), -1, call.groups, columns)
        self._run = weights.shape[1]
        self._columns = columns
        self._tail = call.tail
        preload = call.tail.preload.astype(np.int32, copy=False)
        self._avx2 = use_avx2()
        if self._avx2:
            self._weights = _pack_panels(weights)
            self._constants = tuple(
                _pad_to_panels(array, call.groups)
                for array in (preload, call.tail.multiplier, call.tail.shift)
            )
        else:
            self._weights = np.ascontiguousarray(weights.transpose(2, 3, 0, 1)).reshape(-1)
            self._constants = (preload, call.tail.multiplier, call.tail.shift)

    def __call__(self, inputs: Sequence[Codes], output: Out) -> None:
        """See PreparedCall."""
        arguments = (
            self._padded.fill(inputs[0]), self._starts, self._offsets, self._run, self._groups,
            self._group_channels, self._columns, self._weights, *self._constants,
            self._tail.low, self._tail.high, output.reshape(-1),
        )  # fmt: skip
        if self._avx2:
            _convolve_avx2(output.dtype)(
                *arguments, np.empty(ROWS, np.int64), np.empty(ROWS * COLUMNS, np.int32),
                np.empty(COLUMNS, np.uint8),
            )  # fmt: skip
        else:
            _convolve_portable(output.dtype)(*arguments)


def _pack_panels(weights: Int16) -> Int16:
    """(runs, run, groups, columns) -> flat (groups, panels, runs, pairs, COLUMNS, 2)."""
    runs, run, groups, columns = weights.shape
    panels, pairs = -(-columns // COLUMNS), -(-run // 2)
    whole = np.zeros((runs, 2 * pairs, groups, panels * COLUMNS), np.int16)
    whole[:, :run, :, :columns] = weights
    split = whole.reshape(runs, pairs, 2, groups, panels, COLUMNS)
    return np.ascontiguousarray(split.transpose(3, 4, 0, 1, 5, 2)).reshape(-1)


def _pad_to_panels(per_channel: Int32, groups: int) -> Int32:
    """(channels,) -> flat (groups, panels, COLUMNS), unused columns zero."""
    columns = per_channel.size // groups
    whole = np.zeros((groups, -(-columns // COLUMNS) * COLUMNS), np.int32)
    whole[:, :columns] = per_channel.reshape(groups, columns)
    return whole.reshape(-1)


_SIGNATURE = (
    "int16[::1],int64[::1],int64[::1],int64,int64,int64,int64,int16[::1],"
    "int32[::1],int32[::1],int32[::1],int32,int32,{0}[::1]"
)


@template(f"void({_SIGNATURE})")
def _convolve_portable(
    x: Int16,
    starts: Int64,
    offsets: Int64,
    run: int,
    groups: int,
    group_channels: int,
    columns: int,
    weights: Int16,
    preload: Int32,
    multiplier: Int32,
    shift: Int32,
    low: int,
    high: int,
    out: Out,
) -> None:
    channels = groups * columns
    for block in range(0, starts.size, _BLOCK):
        for channel in range(channels):
            first = channel // columns * group_channels
            for pixel in range(block, min(block + _BLOCK, starts.size)):
                total = preload[channel]
                for tap in range(offsets.size):
                    at = starts[pixel] + offsets[tap] + first
                    a = x[at : at + run]
                    at = (channel * offsets.size + tap) * run
                    b = weights[at : at + run]
                    partial = np.int32(0)
                    for k in range(run):
                        product = np.int32(np.int32(a[k]) * np.int32(b[k]))
                        partial = np.int32(partial + product)
                    total = np.int32(total + partial)
                if out.itemsize == SUM_BYTES:
                    out[pixel * channels + channel] = total
                else:
                    out[pixel * channels + channel] = requantise(
                        total, multiplier[channel], shift[channel], low, high
                    )


@template(f"void({_SIGNATURE},int64[::1],int32[::1],uint8[::1])")
def _convolve_avx2(
    x: Int16,
    starts: Int64,
    offsets: Int64,
    run: int,
    groups: int,
    group_channels: int,
    columns: int,
    weights: Int16,
    preload: Int32,
    multiplier: Int32,
    shift: Int32,
    low: int,
    high: int,
    out: Out,
    rows: Int64,
    tile: Int32,
    codes: Codes,
) -> None:
    channels = groups * columns
    pairs = (run + 1) // 2
    panels = (columns + COLUMNS - 1) // COLUMNS
    panel_bytes = offsets.size * pairs * COLUMNS * 4
    for block in range(0, starts.size, _BLOCK):
        end = min(block + _BLOCK, starts.size)
        for at in range(groups * panels):
            group = at // panels
            column = (at - group * panels) * COLUMNS
            valid = min(COLUMNS, columns - column)
            base = x.ctypes.data + 2 * group * group_channels
            constants = 4 * at * COLUMNS
            for pixel in range(block, end, ROWS):
                for row in range(ROWS):
                    rows[row] = base + 2 * starts[min(pixel + row, end - 1)]
                multiply_tile(
                    rows.ctypes.data,
                    offsets.ctypes.data,
                    offsets.size,
                    pairs,
                    weights.ctypes.data + at * panel_bytes,
                    tile.ctypes.data,
                )
                for row in range(min(ROWS, end - pixel)):
                    to = (pixel + row) * channels + group * columns + column
                    if out.itemsize == SUM_BYTES:
                        for i in range(valid):
                            total = preload[at * COLUMNS + i]
                            out[to + i] = np.int32(total + tile[row * COLUMNS + i])
                        continue
                    whole = valid == COLUMNS
                    requantise_row(
                        tile.ctypes.data + 4 * row * COLUMNS,
                        preload.ctypes.data + constants,
                        multiplier.ctypes.data + constants,
                        shift.ctypes.data + constants,
                        low,
                        high,
                        out.ctypes.data + to if whole else codes.ctypes.data,
                    )
                    if not whole:
                        for i in range(valid):
                            out[to + i] = codes[i]
