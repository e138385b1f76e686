"""Convolution as tiles of `hexsim.int8.microkernel`.

The activations' type selects the product: int16 distances from the zero point, or u8 codes. With
codes the weights are those of `hexsim.int8.panels`, whose zero point costs one sum of codes per
pixel.
"""

from __future__ import annotations

import numpy as np

from hexsim.binding.call import Codes, Int32
from hexsim.int8.jit import template
from hexsim.int8.microkernel import COLUMNS, STEP_BYTES, multiply_panel, multiply_tile
from hexsim.int8.padded import Int64, Padded
from hexsim.int8.panel_output import store_panel
from hexsim.int8.prepared import SUM_BYTES, Out

BLOCK = 112
"""Pixels for which a panel of weights is read once (24 to 768 measured alike with 1 MB of L2)."""


@template(
    "void({0}[::1],int64[::1],int64[::1],int64,int64,int64,int64,uint8[::1],int32,"
    "int32[::1],int32[::1],int32[::1],int64,int32,int32,{1}[::1],int64,int64,int64,int64,"
    "int64,int64,int64[::1],int64[::1],int32[::1],int32[::1],uint8[::1])"
)
def convolve_tiled(
    x: Padded,
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
    tile_rows: int,
    tile_panels: int,
    byte_offsets: Int64,
    rows: Int64,
    addends: Int32,
    tile: Int32,
    codes: Codes,
) -> None:
    """Compute some pixels of some panels; `byte_offsets` to `codes` are scratch of the thread."""
    channels = groups * columns
    steps = (run * x.itemsize + STEP_BYTES - 1) // STEP_BYTES
    panels = (columns + COLUMNS - 1) // COLUMNS
    panel_bytes = offsets.size * steps * COLUMNS * STEP_BYTES
    for tap in range(offsets.size):
        byte_offsets[tap] = x.itemsize * offsets[tap]
    line = SUM_BYTES * COLUMNS
    addends[:] = 0
    x_at, weights_at, rows_at = x.ctypes.data, weights.ctypes.data, rows.ctypes.data
    tile_at, addends_at, scratch_at = tile.ctypes.data, addends.ctypes.data, codes.ctypes.data
    preload_at, multiplier_at = preload.ctypes.data, multiplier.ctypes.data
    shift_at, out_at, offsets_at = shift.ctypes.data, out.ctypes.data, byte_offsets.ctypes.data
    for block in range(first_pixel, last_pixel, BLOCK):
        end = min(block + BLOCK, last_pixel)
        at, summed = first_panel, -1
        while at < last_panel:
            group = at // panels
            panel = at - group * panels
            here = min(tile_panels, panels - panel, last_panel - at)
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
            base = x_at + x.itemsize * first_channel
            for pixel in range(block, end, tile_rows):
                for row in range(tile_rows):
                    rows[row] = base + x.itemsize * starts[min(pixel + row, end - 1)]
                if here == tile_panels:
                    multiply_tile(
                        x, rows_at, offsets_at, offsets.size, steps,
                        weights_at + at * panel_bytes, panel_bytes, tile_at,
                    )  # fmt: skip
                else:
                    multiply_panel(
                        x, rows_at, offsets_at, offsets.size, steps,
                        weights_at + at * panel_bytes, panel_bytes, tile_at,
                    )  # fmt: skip
                for part in range(here):
                    column = (panel + part) * COLUMNS
                    constants = line * (at + part)
                    to = out_at + out.itemsize * (pixel * channels + group * columns + column)
                    store_panel(
                        min(tile_rows, end - pixel), tile_at + line * part, line * tile_panels,
                        addends_at + SUM_BYTES * (pixel - block),
                        preload_at + constants, multiplier_at + constants, shift_at + constants,
                        shifts, low, high, scratch_at, to, channels, min(COLUMNS, columns - column),
                        out.itemsize,
                    )  # fmt: skip
            at += here
