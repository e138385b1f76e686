"""Convolution by Winograd's algorithm: tiles of inputs transformed, multiplied, transformed back.

Tiles are taken in blocks, small enough that what one stage leaves for the next stays near the core.
No stage goes over the whole tensor, and nothing is padded but the tiles at its edges.
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from hexsim.binding.call import Codes, Int32, Int64
from hexsim.int8.machine_code.inner_loops.winograd_tile import multiply_point
from hexsim.int8.machine_code.jit import inlined, kernel, template
from hexsim.int8.panel import COLUMNS, STEP_BYTES, SUM_BYTES
from hexsim.int8.prepared import Out
from hexsim.int8.products.padded import Int16
from hexsim.int8.products.panel_output import store_panel
from hexsim.int8.winograd.maps import OUTPUTS, POINTS, SQUARES
from hexsim.int8.winograd.transform import CHANNELS, sums_of_products, transform_codes

Places = npt.NDArray[np.int64]
"""Image, row and column of each tile's first output."""

_INPUT = "uint8[::1],int64,int64,int64,int64,int64,int64,int64,int64[:,::1],uint8[::1],int16[::1]"


@inlined
def _transform_tile(
    codes: Codes,
    height: int,
    width: int,
    channels: int,
    deep: int,
    zero_point: int,
    top: int,
    left: int,
    place: Int64,
    patch: Codes,
    to: int,
) -> None:
    """Transform one tile to int16 (SQUARES, deep) at address `to`.

    A tile that reaches over an edge, or whose channels are not whole vectors, is copied into
    `patch` first, u8 (POINTS, POINTS, deep).
    """
    image, first_row, first_column = place[0], place[1] - top, place[2] - left
    at = codes.ctypes.data + ((image * height + first_row) * width + first_column) * channels
    row_bytes, column_bytes = width * channels, channels
    over = first_row < 0 or first_row + POINTS > height
    over |= first_column < 0 or first_column + POINTS > width
    if over or channels != deep:
        at, row_bytes, column_bytes = patch.ctypes.data, POINTS * deep, deep
        for point in range(SQUARES):
            row, column = first_row + point // POINTS, first_column + point % POINTS
            copy = patch[point * deep : (point + 1) * deep]
            if row < 0 or row >= height or column < 0 or column >= width:
                for i in range(deep):
                    copy[i] = zero_point
            else:
                start = ((image * height + row) * width + column) * channels
                pixel = codes[start : start + channels]
                for i in range(channels):
                    copy[i] = pixel[i]
    for channel in range(0, deep, CHANNELS):
        target = to + 2 * channel
        transform_codes(at + channel, row_bytes, column_bytes, zero_point, target, 2 * deep)


@kernel(f"void({_INPUT},int64,int64)")
def transform_tiles(
    codes: Codes,
    height: int,
    width: int,
    channels: int,
    deep: int,
    zero_point: int,
    top: int,
    left: int,
    places: Places,
    patch: Codes,
    transformed: Int16,
    first: int,
    last: int,
) -> None:
    """Transform some tiles, each into its place; `patch` is scratch of the thread."""
    for tile in range(first, last):
        _transform_tile(
            codes, height, width, channels, deep, zero_point, top, left, places[tile], patch,
            transformed.ctypes.data + 2 * SQUARES * deep * tile,
        )  # fmt: skip


@template(
    f"void({_INPUT},int64,int64,int64,int64,int64,uint8[::1],int32[::1],int32[::1],int32[::1],"
    "int64,int32,int32,{0}[::1],int64,int64,int64,int64,int32[::1],int32[::1],"
    "int32[::1],uint8[::1])"
)
def convolve_winograd(
    codes: Codes,
    height: int,
    width: int,
    channels: int,
    deep: int,
    zero_point: int,
    top: int,
    left: int,
    places: Places,
    patch: Codes,
    transformed: Int16,
    ready: int,
    block: int,
    out_height: int,
    out_width: int,
    columns: int,
    weights: Codes,
    preload: Int32,
    multiplier: Int32,
    shift: Int32,
    shifts: int,
    low: int,
    high: int,
    out: Out,
    first: int,
    last: int,
    tile_rows: int,
    tile_panels: int,
    products: Int32,
    sums: Int32,
    addends: Int32,
    spare: Codes,
) -> None:
    """Compute some pieces: `tile_panels` panels of a block of tiles each.

    If `ready`, `transformed` holds all tiles, and pieces are counted by panels first, so that
    weights are read once. Otherwise it is scratch for one block, pieces are counted by blocks
    first, and a range has whole blocks. `patch` and what follows `tile_panels` is scratch too.
    """
    tiles, panels = places.shape[0], (columns + COLUMNS - 1) // COLUMNS
    groups, blocks = (panels + tile_panels - 1) // tile_panels, (tiles + block - 1) // block
    steps = (channels + 1) // 2
    square_bytes = 2 * deep
    tile_bytes = SQUARES * square_bytes
    run_bytes = STEP_BYTES * COLUMNS * steps
    panel_bytes = SQUARES * run_bytes
    line = SUM_BYTES * COLUMNS
    stage_bytes = block * tile_panels * line
    addends[:] = 0
    products_at, sums_at = products.ctypes.data, sums.ctypes.data
    addends_at, spare_at, shift_at = addends.ctypes.data, spare.ctypes.data, shift.ctypes.data
    preload_at, multiplier_at = preload.ctypes.data, multiplier.ctypes.data
    for piece in range(first, last):
        at, group = piece // groups, piece % groups
        if ready:
            at, group = piece % blocks, piece // blocks
        start = at * block
        count = min(block, tiles - start)
        inputs = transformed.ctypes.data
        if ready:
            inputs += start * tile_bytes
        elif group == 0:
            for tile in range(count):
                _transform_tile(
                    codes, height, width, channels, deep, zero_point, top, left,
                    places[start + tile], patch, inputs + tile * tile_bytes,
                )  # fmt: skip
        panel = group * tile_panels
        for square in range(SQUARES):
            run = weights.ctypes.data + panel * panel_bytes + square * run_bytes
            for tile in range(0, count, tile_rows):
                multiply_point(
                    inputs + tile * tile_bytes + square * square_bytes, tile_bytes, steps, run,
                    panel_bytes, products_at + square * stage_bytes + tile * tile_panels * line,
                )  # fmt: skip
        for part in range(min(tile_panels, panels - panel)):
            column = (panel + part) * COLUMNS
            constants = SUM_BYTES * column
            for tile in range(count):
                product = products_at + (tile * tile_panels + part) * line
                sums_of_products(product, stage_bytes, sums_at)
                place = places[start + tile]
                for row in range(min(OUTPUTS, out_height - place[1])):
                    pixel = (place[0] * out_height + place[1] + row) * out_width + place[2]
                    store_panel(
                        min(OUTPUTS, out_width - place[2]), sums_at + row * OUTPUTS * line, line,
                        addends_at, preload_at + constants, multiplier_at + constants,
                        shift_at + constants, shifts, low, high, spare_at,
                        out.ctypes.data + out.itemsize * (pixel * columns + column), columns,
                        min(COLUMNS, columns - column), out.itemsize,
                    )  # fmt: skip
