"""3x3 convolutions with a quarter of the products, exact in 32 bits (docs/concepts/winograd.md).

F(4x4, 3x3) of Lavin and Gray, "Fast Algorithms for Convolutional Neural Networks" (2015), in
integers. In one dimension, 4 outputs of a kernel of 3 taps g read 6 inputs d, and take 6 products:

    SCALE * outputs = OUTPUT_MAP (WEIGHT_MAP g * INPUT_MAP d)         * element by element

In two dimensions the maps apply along both, 36 products take the place of 144, and the scale is
SCALE * SCALE. Each row of the published weight map is multiplied by what makes it integer, and the
columns of the output map by what is then missing to SCALE. Points of opposite sign share an even
and an odd half, of which one is the sum and the other the difference: the maps are written with the
halves in the places of the pair, and `winograd` does the sums and differences.

Tiles are taken in blocks, small enough that the results of a stage stay in a cache for the next
one. No stage goes over the whole tensor, and nothing is padded but the tiles at its edges.
"""

from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from hexsim.int8.gemm.arguments import Int16
from hexsim.int8.gemm.panel_output import Destination, PanelStage, Sums, store_panel
from hexsim.int8.gemm.panels import pack_panels, pad_to_panels
from hexsim.int8.machine_code.arguments import record
from hexsim.int8.machine_code.inner_loops import winograd
from hexsim.int8.machine_code.inner_loops.winograd import Map, multiply_point, pair_tile
from hexsim.int8.machine_code.jit import inlined, kernel, template
from hexsim.int8.panel import COLUMNS, STEP_BYTES, SUM_BYTES
from hexsim.int8.requantize import row_stage
from hexsim.int8.step import ROWS, Buffers, Out, Scratch, Step, Work
from hexsim.lowering.lowered_call import Codes, Int32, Int64
from hexsim.lowering.products import LoweredConvolution
from hexsim.lowering.source import Weights

KERNEL = 3
"""Taps in each dimension."""
OUTPUTS = 4
"""Outputs of a tile in each dimension."""
POINTS = OUTPUTS + KERNEL - 1
"""Inputs of a tile, and products, in each dimension."""
SQUARES = POINTS * POINTS
"""Products for a tile."""

INPUT_MAP: Map = (
    (4, 0, -5, 0, 1, 0),
    (0, 0, -4, 0, 1, 0),
    (0, -4, 0, 1, 0, 0),
    (0, 0, -1, 0, 1, 0),
    (0, -2, 0, 2, 0, 0),
    (0, 4, 0, -5, 0, 1),
)
"""Then rows 1 and 2, and 3 and 4, are replaced by their sum and difference."""
WEIGHT_MAP: Map = ((1, 0, 0), (1, 0, 1), (0, 1, 0), (1, 0, 4), (0, 2, 0), (0, 0, 1))
"""Rows 1 and 2, and 3 and 4, are then replaced likewise."""
OUTPUT_MAP: Map = (
    (6, -4, 0, 1, 0, 0),
    (0, 0, -4, 0, 2, 0),
    (0, -4, 0, 4, 0, 0),
    (0, 0, -4, 0, 8, 24),
)
"""Applied to products of which 1 and 2, and 3 and 4, have been replaced likewise."""

SCALE = 24
SHIFT = 6
"""SCALE^2 = 576 is 9 * 2^6."""
INVERSE = pow(SCALE**2 >> SHIFT, -1, 1 << 32)
"""Times 9, it is 1 modulo 2^32."""
LIMIT = 1 << (31 - SHIFT)
"""A sum smaller than this in size is what 576 times it, modulo 2^32, times INVERSE, modulo 2^32,
shifted right by SHIFT gives: the second is 64 times the sum and fits int32."""


CHANNELS = winograd.CHANNELS
"""Input channels that are transformed together."""

transform_codes = winograd.of_codes(INPUT_MAP)
"""Inputs of a tile, POINTS by POINTS, to SQUARES vectors of int16. They fit: the coefficients of a
point are at most 10 in sum, and 10 * 10 * 255 < 2^15."""
transform_weights = winograd.of_weights(WEIGHT_MAP)
"""Weights, KERNEL by KERNEL, to SQUARES vectors of int16. They fit: the coefficients of a point are
at most 7 in sum, and 7 * 7 * 255 < 2^15."""
sums_of_products = winograd.of_products(OUTPUT_MAP, INVERSE, SHIFT)
"""Products of a tile, POINTS by POINTS, to sums, OUTPUTS by OUTPUTS."""


_LARGEST_CODE = 255


def sums_fit(weights: Weights, zero_point: int) -> bool:
    """Return whether no sum of products reaches LIMIT, whatever the codes of the activations.

    Their distances from `zero_point` lie between -zero_point and 255 - zero_point. Bounding the
    positive and the negative weights of a channel apart allows for about twice the depth that the
    sum of their sizes would.
    """
    distances = weights.codes.reshape(-1, weights.codes.shape[-1]).astype(np.int64)
    distances -= weights.zero_point
    positive = np.maximum(distances, 0).sum(axis=0)
    negative = positive - distances.sum(axis=0)
    above, below = _LARGEST_CODE - zero_point, zero_point
    largest = np.maximum(above * positive + below * negative, below * positive + above * negative)
    return bool((largest < LIMIT).all())


def pack_winograd(weights: Weights) -> Codes:
    """Return the bytes of int16 (panels, SQUARES, steps, COLUMNS, 2), transformed.

    Panels fill whole tiles of the micro-kernel; those without channels are zero.
    """
    _, _, deep, columns = weights.codes.shape
    tile_columns = COLUMNS * pair_tile().panels
    padded_columns = -(-columns // tile_columns) * tile_columns
    distances = np.zeros((KERNEL * KERNEL, deep, 1, padded_columns), np.int16)
    distances[..., 0, :columns] = weights.codes.reshape(KERNEL * KERNEL, deep, columns)
    distances[..., 0, :columns] -= np.int16(weights.zero_point)
    plain = pack_panels(distances).view(np.uint8)
    packed = np.empty(plain.size // (KERNEL * KERNEL) * SQUARES, np.uint8)
    panels = padded_columns // COLUMNS
    _transform(plain, panels, packed.size // (panels * SQUARES), packed)
    return packed


@kernel("void(uint8[::1],int64,int64,uint8[::1])")
def _transform(plain: Codes, panels: int, run_bytes: int, packed: Codes) -> None:
    for panel in range(panels):
        source = plain.ctypes.data + panel * KERNEL * KERNEL * run_bytes
        target = packed.ctypes.data + panel * SQUARES * run_bytes
        for step in range(0, run_bytes, STEP_BYTES * COLUMNS):
            transform_weights(source + step, run_bytes, target + step, run_bytes)


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


_BLOCK = 3
"""Tiles of the micro-kernel for which weights are read once; 2 to 8 measured alike (within 5 %)."""
_FEW_BLOCKS = 4
"""With at most this many blocks all tiles are transformed before any is multiplied: they fit a
cache (2 MB with 128 channels), and threads can share out panels. With more, each block is
transformed just before it is multiplied."""


def admits_winograd(call: LoweredConvolution) -> bool:
    """Return whether the result is exact: a dense 3x3 convolution of 8 bits, stride 1, not dilated.

    No sum of products may reach `maps.LIMIT`; transforms fit 16 bits whatever the weights.
    """
    window = call.window
    return (
        window.kernel == (KERNEL, KERNEL)
        and tuple(window.strides) == tuple(window.dilations) == (1, 1)
        and call.groups == 1
        and sums_fit(call.weights, call.inputs[0].zero_point)
    )


class WinogradConvolution:
    """A convolution whose weights are packed by `winograd.panels`; the call must admit it."""

    def __init__(self, call: LoweredConvolution) -> None:
        _, height, width, channels = call.inputs[0].shape
        batch, out_height, out_width, columns = call.output.shape
        stage, self._tile = call.stage, pair_tile()
        self._deep = -(-channels // CHANNELS) * CHANNELS
        every = np.mgrid[0:batch, 0:out_height:OUTPUTS, 0:out_width:OUTPUTS]
        places = np.ascontiguousarray(every.reshape(3, -1).T, dtype=np.int64)
        self._tiles = len(places)
        self._image = Image(
            height, width, channels, self._deep, call.inputs[0].zero_point, *call.window.pads[:2],
            places,
        )  # fmt: skip
        self._output = out_height, out_width, columns
        preload = stage.preload.astype(np.int32, copy=False)
        way, multiplier = row_stage(stage)
        self._panels = Panels(
            pack_winograd(call.weights), pad_to_panels(preload, 1),
            pad_to_panels(multiplier, 1), pad_to_panels(stage.shift, 1), way, stage.low, stage.high,
        )  # fmt: skip
        self._groups = -(-columns // (COLUMNS * self._tile.panels))

    def steps(self, at: Buffers) -> list[Work]:
        """See PreparedCall."""
        tile, tile_elements = self._tile, SQUARES * self._deep
        block = tile.rows * min(_BLOCK, -(-self._tiles // tile.rows))
        blocks = -(-self._tiles // block)
        ready = blocks <= _FEW_BLOCKS
        codes, patch = at.inputs[0].reshape(-1), Scratch(tile_elements, np.uint8)
        before: list[Work] = []
        transformed: Any = Scratch(block * tile_elements, np.int16)
        if ready:
            transformed = at.workspace.empty(blocks * block * tile_elements, np.int16)
            arguments = (codes, self._image, patch, transformed, *ROWS)
            before = [Step(transform_tiles, arguments, self._tiles)]
        memory = WinogradMemory(
            patch, transformed, Scratch(SQUARES * block * tile.panels * COLUMNS, np.int32),
            Scratch(OUTPUTS * OUTPUTS * COLUMNS, np.int32), Scratch(OUTPUTS, np.int32),
            Scratch(OUTPUTS * COLUMNS, np.uint8),
        )  # fmt: skip
        division = Blocks(int(ready), block, tile.rows, tile.panels, *self._output)
        out = at.output.reshape(-1)
        work = (codes, self._image, division, self._panels, out, *ROWS, memory)
        grain = 1 if ready else self._groups
        kernel = convolve_winograd(at.output.dtype)
        return [*before, Step(kernel, work, blocks * self._groups, grain)]
