"""Convolution by Winograd's algorithm: tiles of inputs transformed, multiplied, transformed back.

Tiles are taken in blocks, small enough that the results of a stage stay in a cache for the next
one. No stage goes over the whole tensor, and nothing is padded but the tiles at its edges.
"""

from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from hexsim.int8.gemm.padded import Int16
from hexsim.int8.gemm.panel_output import Destination, PanelStage, Sums, store_panel
from hexsim.int8.machine_code.inner_loops.winograd_tile import multiply_point
from hexsim.int8.machine_code.jit import inlined, kernel, template
from hexsim.int8.machine_code.record import record
from hexsim.int8.panel import COLUMNS, STEP_BYTES, SUM_BYTES
from hexsim.int8.prepared import Out
from hexsim.int8.winograd.maps import OUTPUTS, POINTS, SQUARES
from hexsim.int8.winograd.transform import CHANNELS, sums_of_products, transform_codes
from hexsim.lowering.lowered_call import Codes, Int32, Int64

Places = npt.NDArray[np.int64]
"""Image, row and column of each tile's first output."""


@record("int64,int64,int64,int64,int64,int64,int64,int64[:,::1]")
class Image(NamedTuple):
    """Sizes of the input, its channels filled up to `deep`, first pads, and where tiles begin."""

    height: int
    width: int
    channels: int
    deep: int
    zero_point: int
    top: int
    left: int
    places: Places


@record("int64,int64,int64,int64,int64,int64,int64")
class Blocks(NamedTuple):
    """How the work is divided; `ready` is not zero if all tiles are transformed already.

    Then pieces are counted by panels first, so that weights are read once; else by blocks of
    `block` tiles first, and a range has whole blocks.
    """

    ready: int
    block: int
    tile_rows: int
    tile_panels: int
    out_height: int
    out_width: int
    columns: int


@record("uint8[::1],int32[::1],int32[::1],int32[::1],int64,int32,int32")
class Panels(NamedTuple):
    """Packed weights, the constants of their channels, the way of requantising, and limits."""

    weights: Codes
    preload: Int32
    multiplier: Int32
    shift: Int32
    way: int
    low: int
    high: int


@record("uint8[::1],int16[::1],int32[::1],int32[::1],int32[::1],uint8[::1]")
class WinogradMemory(NamedTuple):
    """Scratch; `transformed` holds all tiles if they are ready, else it is scratch for a block."""

    patch: Any
    transformed: Any
    products: Any
    sums: Any
    addends: Any
    spare: Any


class _Stages(NamedTuple):
    """Addresses of the results that stages leave for each other, and of the output."""

    products: int
    sums: int
    addends: int
    spare: int
    out: int
    item_bytes: int


@inlined
def _transform_tile(codes: Codes, image: Image, tile: int, patch: Codes, to: int) -> None:
    """Transform one tile to int16 (SQUARES, deep) at address `to`.

    A tile that reaches over an edge, or whose channels are not whole vectors, is copied into
    `patch` first, u8 (POINTS, POINTS, deep).
    """
    height, width, channels, deep = image.height, image.width, image.channels, image.deep
    zero_point, place = image.zero_point, image.places[tile]
    first_row, first_column = place[1] - image.top, place[2] - image.left
    at = codes.ctypes.data + ((place[0] * height + first_row) * width + first_column) * channels
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
                start = ((place[0] * height + row) * width + column) * channels
                pixel = codes[start : start + channels]
                for i in range(channels):
                    copy[i] = pixel[i]
    for channel in range(0, deep, CHANNELS):
        target = to + 2 * channel
        transform_codes(at + channel, row_bytes, column_bytes, zero_point, target, 2 * deep)


@kernel("void(uint8[::1],Image,uint8[::1],int16[::1],int64,int64)")
def transform_tiles(
    codes: Codes, image: Image, patch: Codes, transformed: Int16, first: int, last: int
) -> None:
    """Transform some tiles, each into its place; `patch` is scratch of the thread."""
    for tile in range(first, last):
        target = transformed.ctypes.data + 2 * SQUARES * image.deep * tile
        _transform_tile(codes, image, tile, patch, target)


@template("void(uint8[::1],Image,Blocks,Panels,{0}[::1],int64,int64,WinogradMemory)")
def convolve_winograd(
    codes: Codes,
    image: Image,
    blocks: Blocks,
    panels: Panels,
    out: Out,
    first: int,
    last: int,
    memory: WinogradMemory,
) -> None:
    """Compute some pieces: `tile_panels` panels of a block of tiles each."""
    block, tile_panels = blocks.block, blocks.tile_panels
    tiles = image.places.shape[0]
    panel_count = (blocks.columns + COLUMNS - 1) // COLUMNS
    groups, block_count = (
        (panel_count + tile_panels - 1) // tile_panels,
        (tiles + block - 1) // block,
    )
    tile_bytes = 2 * SQUARES * image.deep
    addends, patch, places = memory.addends, memory.patch, image.places
    addends[:] = 0
    weights_at, transformed_at = panels.weights.ctypes.data, memory.transformed.ctypes.data
    stages = _Stages(
        memory.products.ctypes.data, memory.sums.ctypes.data, addends.ctypes.data,
        memory.spare.ctypes.data, out.ctypes.data, out.itemsize,
    )  # fmt: skip
    stage = PanelStage(
        panels.preload.ctypes.data, panels.multiplier.ctypes.data, panels.shift.ctypes.data,
        panels.way, panels.low, panels.high,
    )  # fmt: skip
    for piece in range(first, last):
        number, group = piece // groups, piece % groups
        if blocks.ready:
            number, group = piece % block_count, piece // block_count
        start = number * block
        count = min(block, tiles - start)
        inputs = transformed_at
        if blocks.ready:
            inputs += start * tile_bytes
        elif group == 0:
            for tile in range(count):
                target = inputs + tile * tile_bytes
                _transform_tile(codes, image, start + tile, patch, target)
        panel = group * tile_panels
        _multiply(image, blocks, weights_at, panel, count, inputs, stages.products)
        for part in range(min(tile_panels, panel_count - panel)):
            for tile in range(count):
                place = places[start + tile]
                product = stages.products + (tile * tile_panels + part) * SUM_BYTES * COLUMNS
                _store_tile(blocks, stage, place, panel + part, product, stages)


@inlined
def _multiply(
    image: Image, blocks: Blocks, weights: int, panel: int, count: int, inputs: int,
    products: int
) -> None:  # fmt: skip
    """Multiply `count` transformed tiles by the panels from `panel` on, square by square."""
    steps, square_bytes = (image.channels + 1) // 2, 2 * image.deep
    tile_bytes = SQUARES * square_bytes
    run_bytes = STEP_BYTES * COLUMNS * steps
    panel_bytes = SQUARES * run_bytes
    line = SUM_BYTES * COLUMNS * blocks.tile_panels
    for square in range(SQUARES):
        run = weights + panel * panel_bytes + square * run_bytes
        target = products + square * blocks.block * line
        for tile in range(0, count, blocks.tile_rows):
            x = inputs + tile * tile_bytes + square * square_bytes
            multiply_point(x, tile_bytes, steps, run, panel_bytes, target + tile * line)


@inlined
def _store_tile(
    blocks: Blocks, stage: PanelStage, place: Int64, panel: int, product: int, stages: _Stages
) -> None:
    """Store a tile's outputs of one panel, whose products begin at an address.

    `stage` has the addresses of the constants of all panels.
    """
    line, column = SUM_BYTES * COLUMNS, panel * COLUMNS
    constants = SUM_BYTES * column
    sums_of_products(product, blocks.block * blocks.tile_panels * line, stages.sums)
    of_panel = PanelStage(
        stage.preload + constants, stage.multiplier + constants, stage.shift + constants,
        stage.way, stage.low, stage.high,
    )  # fmt: skip
    valid = min(COLUMNS, blocks.columns - column)
    for row in range(min(OUTPUTS, blocks.out_height - place[1])):
        sums = Sums(stages.sums + row * OUTPUTS * line, line, stages.addends)
        pixel = (place[0] * blocks.out_height + place[1] + row) * blocks.out_width + place[2]
        target = stages.out + stages.item_bytes * (pixel * blocks.columns + column)
        destination = Destination(target, blocks.columns, valid, stages.item_bytes, stages.spare)
        store_panel(min(OUTPUTS, blocks.out_width - place[2]), sums, of_panel, destination)
