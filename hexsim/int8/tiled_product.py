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
from hexsim.int8.prepared import SUM_BYTES, Out
from hexsim.int8.vector_requantise import requantise_rows

BLOCK = 112
"""Pixels for which a panel of weights is read once (24 to 768 measured alike with 1 MB of L2)."""


@template(
    "void({0}[::1],int64[::1],int64[::1],int64,int64,int64,int64,uint8[::1],int32,"
    "int32[::1],int32[::1],int32[::1],int64,int32,int32,{1}[::1],int64,int64,"
    "int64,int64,int64[::1],int32[::1],int32[::1],uint8[::1])"
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
    tile_rows: int,
    tile_panels: int,
    rows: Int64,
    addends: Int32,
    tile: Int32,
    codes: Codes,
) -> None:
    channels = groups * columns
    steps = (run * x.itemsize + STEP_BYTES - 1) // STEP_BYTES
    panels = (columns + COLUMNS - 1) // COLUMNS
    panel_bytes = offsets.size * steps * COLUMNS * STEP_BYTES
    tile_columns = tile_panels * COLUMNS
    addends[:] = 0
    for block in range(first_pixel, last_pixel, BLOCK):
        end = min(block + BLOCK, last_pixel)
        for group in range(groups):
            if weight_zero != 0:
                for pixel in range(block, end):
                    total = np.int32(0)
                    for tap in range(offsets.size):
                        at = starts[pixel] + offsets[tap] // x.itemsize + group * group_channels
                        values = x[at : at + run]
                        for k in range(run):
                            total += np.int32(values[k])
                    addends[pixel - block] = np.int32(-weight_zero * total)
            base = x.ctypes.data + x.itemsize * group * group_channels
            for panel in range(0, panels, tile_panels):
                at = group * panels + panel
                panel_weights = weights.ctypes.data + at * panel_bytes
                whole = panel + tile_panels <= panels
                for pixel in range(block, end, tile_rows):
                    for row in range(tile_rows):
                        rows[row] = base + x.itemsize * starts[min(pixel + row, end - 1)]
                    if whole:
                        multiply_tile(
                            x, rows.ctypes.data, offsets.ctypes.data, offsets.size, steps,
                            panel_weights, panel_bytes, tile.ctypes.data,
                        )  # fmt: skip
                    else:
                        multiply_panel(
                            x, rows.ctypes.data, offsets.ctypes.data, offsets.size, steps,
                            panel_weights, panel_bytes, tile.ctypes.data,
                        )  # fmt: skip
                    for part in range(min(tile_panels, panels - panel)):
                        column = (panel + part) * COLUMNS
                        valid = min(COLUMNS, columns - column)
                        constant = (at + part) * COLUMNS
                        count = min(tile_rows, end - pixel)
                        to = pixel * channels + group * columns + column
                        sums = part * COLUMNS
                        if out.itemsize == SUM_BYTES:
                            for row in range(count):
                                for i in range(valid):
                                    total = np.int32(
                                        preload[constant + i] + addends[pixel + row - block]
                                    )
                                    total = np.int32(total + tile[row * tile_columns + sums + i])
                                    out[to + row * channels + i] = total
                            continue
                        fits = valid == COLUMNS
                        requantise_rows(
                            count,
                            tile.ctypes.data + SUM_BYTES * sums,
                            SUM_BYTES * tile_columns,
                            addends.ctypes.data + SUM_BYTES * (pixel - block),
                            preload.ctypes.data + SUM_BYTES * constant,
                            multiplier.ctypes.data + SUM_BYTES * constant,
                            shift.ctypes.data + SUM_BYTES * constant,
                            shifts,
                            low,
                            high,
                            out.ctypes.data + to if fits else codes.ctypes.data,
                            channels if fits else COLUMNS,
                        )
                        if not fits:
                            for row in range(count):
                                for i in range(valid):
                                    out[to + row * channels + i] = codes[row * COLUMNS + i]
