"""Cutting a layer with weights into tiles that fit the engine's local memory.

Half of the local memory holds activations between layers, the other half is two buffers, so that
the next tile is fetched while the array works on this one. A tile is some rows of the output by
some of its channels; either the weights stay in local memory while the rows change, or the rows
while the weights change, and the others are fetched again. If not even one row and one group of
channel lanes fits, the reduction is cut too: the buffers are full of operands, so the partial sums
are written to DDR and fetched again for each further piece.

The tiling with the shortest estimated time is chosen: the longer of DMA and array, plus the
first fetch and the last write, which do not overlap with other work.
"""

import math
from collections.abc import Iterator
from functools import cached_property, lru_cache
from itertools import product
from typing import Literal, get_args

from hexsim.hta.array import MacArray, MacShape
from hexsim.records import dataclass

Stays = Literal["weights", "rows"]
_SUM_BYTES = 4
_ENOUGH = 256
"""Tiles of one layer; finer cuts hardly shorten the first fetch (assumed)."""
_REMEMBERED = 1024
"""Layers whose tiles are cached, because networks repeat layers and sweeps repeat networks."""


@dataclass(frozen=True)
class TileLimits:
    """Limits of a tile: bytes of one buffer, the rate of the DMA, and tensors in local memory.

    `input_held` and `output_held` say that the activations of the layer stay on chip, so that
    they are not fetched or written.
    """

    buffer_bytes: int
    dma_bytes_per_clk: float
    command_clocks: float
    input_held: bool
    output_held: bool


@dataclass(frozen=True)
class HtaTile:
    """One piece of a layer: the bytes that it fetches and writes, and its clocks.

    If the reduction is cut, all pieces but the last write their partial sums, and all but the
    first fetch them.
    """

    activation_bytes: int
    weight_bytes: int
    array_clocks: int
    stage_clocks: int
    write_bytes: int
    sums_fetched: int = 0
    sums_written: int = 0

    @property
    def read_bytes(self) -> int:
        """All bytes that are fetched."""
        return self.activation_bytes + self.weight_bytes + self.sums_fetched

    @property
    def written_bytes(self) -> int:
        """All bytes that are written."""
        return self.write_bytes + self.sums_written

    @cached_property
    def clocks(self) -> int:
        """The clocks of the tile; the array and the stage after it work at the same time."""
        return max(self.array_clocks, self.stage_clocks)

    @cached_property
    def moved_bytes(self) -> int:
        """All bytes that the DMA moves."""
        return self.read_bytes + self.written_bytes


@dataclass(frozen=True)
class _Cut:
    rows: int
    channels: int
    depth: int
    stays: Stays

    def count(self, shape: MacShape) -> int:
        """Number of tiles."""
        sizes = (
            (shape.rows, self.rows),
            (shape.channels, self.channels),
            (shape.depth, self.depth),
        )
        return math.prod(math.ceil(size / piece) for size, piece in sizes)


@lru_cache(_REMEMBERED)
def tiles(shape: MacShape, array: MacArray, room: TileLimits) -> tuple[HtaTile, ...]:
    """Return the tiles of a layer in the order in which they run."""
    cuts = _cuts(shape, array, room)
    coarse = [cut for cut in cuts if cut.count(shape) <= _ENOUGH]
    candidates = coarse or [min(cuts, key=lambda cut: cut.count(shape))]
    plans = [tuple(_cut(shape, array, room, cut)) for cut in candidates]
    return min(plans, key=lambda plan: (_estimate(plan, room), len(plan)))


def _estimate(plan: tuple[HtaTile, ...], room: TileLimits) -> float:
    moved = sum(tile.moved_bytes for tile in plan)
    busy = sum(tile.clocks for tile in plan) + len(plan) * room.command_clocks
    exposed = plan[0].activation_bytes + plan[0].weight_bytes + plan[-1].write_bytes
    return max(moved / room.dma_bytes_per_clk, busy) + exposed / room.dma_bytes_per_clk


def _cuts(shape: MacShape, array: MacArray, room: TileLimits) -> list[_Cut]:
    """Return the cuts whose tiles fit, with the longest reduction for which there are any."""
    depth = shape.depth
    least = math.lcm(array.channel_lanes, shape.channel_step)
    sizes = list(product(_halves(shape.rows, 1), _halves(shape.channels, least)))
    while True:
        fitting = [size for size in sizes if _fits(shape, room, *size, depth)]
        if not fitting and depth <= array.depth_lanes:
            fitting = sizes[-1:]  # there is no smaller tile: the engine would spill
        if fitting:
            return [
                _Cut(*size, depth, stays) for size in fitting for stays in _orders(shape, *size)
            ]
        depth = math.ceil(depth / 2)


def _orders(shape: MacShape, rows: int, channels: int) -> tuple[Stays, ...]:
    """Return both orders, or one if they are the same because one dimension is not cut."""
    orders: tuple[Stays, ...] = get_args(Stays)
    return orders if rows < shape.rows and channels < shape.channels else orders[:1]


def _fits(shape: MacShape, room: TileLimits, rows: int, channels: int, depth: int) -> bool:
    share = depth / shape.depth
    size = shape.weight_bytes(channels, depth)
    size += 0 if room.input_held else math.ceil(shape.input_bytes(rows) * share)
    size += 0 if room.output_held else shape.output_bytes(rows, channels)
    return size <= room.buffer_bytes


def _halves(size: int, least: int) -> list[int]:
    """Return `size`, its half, its quarter, ... in whole multiples of `least`."""
    sizes = [size]
    while sizes[-1] > least:
        half = math.ceil(sizes[-1] / 2 / least) * least
        if half >= sizes[-1]:
            break
        sizes.append(half)
    return sizes


def _cut(shape: MacShape, array: MacArray, room: TileLimits, cut: _Cut) -> Iterator[HtaTile]:
    """Yield the tiles of one cut; operands that the previous tile has fetched are not fetched."""
    rows = list(enumerate(_pieces(shape.rows, cut.rows)))
    channels = list(enumerate(_pieces(shape.channels, cut.channels)))
    depths = list(enumerate(_pieces(shape.depth, cut.depth)))
    if cut.stays == "weights":
        grid = [(row, channel) for channel in channels for row in rows]
    else:
        grid = [(row, channel) for row in rows for channel in channels]
    per_group = shape.channels // shape.groups
    tile_cache: dict[tuple[int, ...], HtaTile] = {}
    held_rows = held_weights = (-1, -1)
    for ((row, height), (channel, width)), (piece, depth) in product(grid, depths):
        fetches_rows = not room.input_held and held_rows != (row, piece)
        fetches_weights = held_weights != (channel, piece)
        is_last = piece == len(depths) - 1
        phase = channel * cut.channels % per_group
        key = (height, width, depth, phase, piece > 0, is_last, fetches_rows, fetches_weights)
        if key not in tile_cache:
            results = shape.output_bytes(height, width)
            sums = height * shape.width * width * _SUM_BYTES
            tile_cache[key] = HtaTile(
                math.ceil(shape.input_bytes(height) * depth / shape.depth) if fetches_rows else 0,
                shape.weight_bytes(width, depth) if fetches_weights else 0,
                array.clocks(
                    shape,
                    rows=height,
                    channels=width,
                    depth=depth,
                    bits=8 * shape.activation_bytes,
                    first=phase,
                ),
                array.stage_clocks(results if is_last else sums),
                results if is_last and not room.output_held else 0,
                sums_fetched=sums if piece else 0,
                sums_written=0 if is_last else sums,
            )
        yield tile_cache[key]
        held_rows, held_weights = (row, piece), (channel, piece)


def _pieces(size: int, piece: int) -> list[int]:
    """Cut `size` into pieces; the last one may be smaller."""
    return [min(piece, size - start) for start in range(0, size, piece)]
