"""Convolution of codes as tiles of `hexsim.int8.guarded_tile`."""

from __future__ import annotations

import numpy as np

from hexsim.binding.call import Codes, Int32
from hexsim.int8.guarded_tile import ROWS, multiply_guarded
from hexsim.int8.jit import template
from hexsim.int8.microkernel import COLUMNS, STEP_BYTES
from hexsim.int8.padded import Int64
from hexsim.int8.panel_output import store_panel
from hexsim.int8.prepared import SUM_BYTES, Out

BLOCK = 96
"""Pixels for which a panel of weights is read once."""


@template(
    "void(uint8[::1],int64[::1],int64[::1],int64,int64,int64,int64,uint8[::1],int32,"
    "int32[::1],int32[::1],int32[::1],int64,int32,int32,{0}[::1],int64,int64,int64,int64,"
    "int64[::1],int64[:,::1],int64[::1],int32[::1],int32[::1],uint8[::1])"
)
def convolve_guarded(
    x: Codes,
    starts: Int64,
    offsets: Int64,
    run: int,
    groups: int,
    group_channels: int,
    columns: int,
    weights: Codes,
    weight_zero: int,
    preload: Int32,
    multiplier: Int32,
    shift: Int32,
    shifts: int,
    low: int,
    high: int,
    out: Out,
    first_pixel: int,
    last_pixel: int,
    first_panel: int,
    last_panel: int,
    step_offsets: Int64,
    table: Int64,
    rows: Int64,
    addends: Int32,
    tile: Int32,
    codes: Codes,
) -> None:
    """Compute some pixels of some panels; `rows` to `codes` are scratch of the thread."""
    channels = groups * columns
    panels = (columns + COLUMNS - 1) // COLUMNS
    addends[:] = 0
    x_at, weights_at, rows_at = x.ctypes.data, weights.ctypes.data, rows.ctypes.data
    tile_at, addends_at, scratch_at = tile.ctypes.data, addends.ctypes.data, codes.ctypes.data
    preload_at, multiplier_at = preload.ctypes.data, multiplier.ctypes.data
    shift_at, out_at, offsets_at = shift.ctypes.data, out.ctypes.data, step_offsets.ctypes.data
    for block in range(first_pixel, last_pixel, BLOCK):
        end = min(block + BLOCK, last_pixel)
        summed = -1
        for at in range(first_panel, last_panel):
            group = at // panels
            column = (at - group * panels) * COLUMNS
            first_channel = group * group_channels
            if weight_zero != 0 and summed != group:
                for pixel in range(block, end):
                    total = np.int32(0)
                    for tap in range(offsets.size):
                        start = starts[pixel] + offsets[tap] + first_channel
                        values = x[start : start + run]
                        for k in range(run):
                            total += np.int32(values[k])
                    addends[pixel - block] = np.int32(-weight_zero * total)
                summed = group
            base = x_at + first_channel
            first = table[at, 0]
            for pixel in range(block, end, ROWS):
                for row in range(ROWS):
                    rows[row] = base + starts[min(pixel + row, end - 1)]
                multiply_guarded(
                    rows_at, offsets_at + 8 * first, table[at, 1], table[at, 2],
                    weights_at + COLUMNS * STEP_BYTES * first, tile_at,
                )  # fmt: skip
                constants = SUM_BYTES * COLUMNS * at
                to = out_at + out.itemsize * (pixel * channels + group * columns + column)
                store_panel(
                    min(ROWS, end - pixel), tile_at, SUM_BYTES * COLUMNS,
                    addends_at + SUM_BYTES * (pixel - block),
                    preload_at + constants, multiplier_at + constants, shift_at + constants,
                    shifts, low, high, scratch_at, to, channels, min(COLUMNS, columns - column),
                    out.itemsize,
                )  # fmt: skip
