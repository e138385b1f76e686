"""Cutting a layer with weights into tiles that fit the engine's local memory.

Half of the local memory keeps activations between layers, the other half is two buffers, so that
the next tile is fetched while the array works on this one. A tile is some rows of the output by
some of its channels; either the weights stay while rows pass by, or the rows stay while weights
pass by, and what does not stay is fetched again. If not even one row and one group of channel
lanes fits, the reduction is cut too: the buffers are full of operands, so the partial sums go to
DDR and come back for each further piece.

The tiling chosen is the one with the shortest estimate: the longer of DMA and array, and the
first fetch and last write, which nothing hides.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property, lru_cache
from itertools import product
from typing import Literal, get_args

from hexsim.hta.array import MacArray
from hexsim.hta.shapes import MacShape

Stays = Literal["weights", "rows"]
_SUM_BYTES = 4
_ENOUGH = 256
"""Tiles of one layer beyond which a finer cut hides next to nothing more of the first fetch."""
_REMEMBERED = 1024
"""Layers whose tiles are kept: networks repeat layers, and sweeps of constants whole networks."""


@dataclass(frozen=True)
class Room:
    """What a tile may use: bytes of one buffer, the DMA's rate, and what is in local memory.

    `input_held` and `output_held` say that the layer's activations stay on chip, so that
    fetching or writing them costs nothing.
    """

    buffer_bytes: int
    dma_bytes_per_clk: float
    command_clocks: float
    input_held: bool
    output_held: bool


@dataclass(frozen=True)
class HtaTile:
    """One piece of a layer: what is fetched for it, its clocks, what is written.

    Of a reduction that is cut, all pieces but the last write their partial sums, and all but the
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
        """What is fetched."""
        return self.activation_bytes + self.weight_bytes + self.sums_fetched

    @property
    def written_bytes(self) -> int:
        """What is written."""
        return self.write_bytes + self.sums_written

    @cached_property
    def clocks(self) -> int:
        """The array and the stage behind it work at once."""
        return max(self.array_clocks, self.stage_clocks)

    @cached_property
    def moved_bytes(self) -> int:
        """What the DMA moves."""
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
def tiles(shape: MacShape, array: MacArray, room: Room) -> tuple[HtaTile, ...]:
    """Return the tiles of a layer in the order in which they run."""
    cuts = _cuts(shape, array, room)
    coarse = [cut for cut in cuts if cut.count(shape) <= _ENOUGH]
    worth_it = coarse or [min(cuts, key=lambda cut: cut.count(shape))]
    plans = [tuple(_cut(shape, array, room, cut)) for cut in worth_it]
    return min(plans, key=lambda plan: (_estimate(plan, room), len(plan)))


def _estimate(plan: tuple[HtaTile, ...], room: Room) -> float:
    moved = sum(tile.moved_bytes for tile in plan)
    busy = sum(tile.clocks for tile in plan) + len(plan) * room.command_clocks
    exposed = plan[0].activation_bytes + plan[0].weight_bytes + plan[-1].write_bytes
    return max(moved / room.dma_bytes_per_clk, busy) + exposed / room.dma_bytes_per_clk


def _cuts(shape: MacShape, array: MacArray, room: Room) -> list[_Cut]:
    """Cuts whose tiles fit, of the longest reduction for which there are any."""
    depth = shape.depth
    least = math.lcm(array.channel_lanes, shape.channel_step)
    sizes = list(product(_halves(shape.rows, 1), _halves(shape.channels, least)))
    while True:
        fitting = [size for size in sizes if _fits(shape, room, *size, depth)]
        if not fitting and depth <= array.depth_lanes:
            fitting = sizes[-1:]  # nothing smaller exists: the engine would spill
        if fitting:
            return [
                _Cut(*size, depth, stays) for size in fitting for stays in _orders(shape, *size)
            ]
        depth = math.ceil(depth / 2)


def _orders(shape: MacShape, rows: int, channels: int) -> tuple[Stays, ...]:
    """Both orders, or one where they are the same because only one kind of piece changes."""
    orders: tuple[Stays, ...] = get_args(Stays)
    return orders if rows < shape.rows and channels < shape.channels else orders[:1]


def _fits(shape: MacShape, room: Room, rows: int, channels: int, depth: int) -> bool:
    share = depth / shape.depth
    size = shape.weight_bytes(channels, depth)
    size += 0 if room.input_held else math.ceil(shape.input_bytes(rows) * share)
    size += 0 if room.output_held else shape.output_bytes(rows, channels)
    return size <= room.buffer_bytes


def _halves(size: int, least: int) -> list[int]:
    """`size`, its half, its quarter, ... in whole multiples of `least`."""
    result = [size]
    while result[-1] > least:
        half = math.ceil(result[-1] / 2 / least) * least
        if half >= result[-1]:
            break
        result.append(half)
    return result


def _cut(shape: MacShape, array: MacArray, room: Room, cut: _Cut) -> Iterator[HtaTile]:
    """Lay out the tiles of one cut; what the tile before has fetched already is not fetched."""
    rows = list(enumerate(_pieces(shape.rows, cut.rows)))
    channels = list(enumerate(_pieces(shape.channels, cut.channels)))
    depths = list(enumerate(_pieces(shape.depth, cut.depth)))
    if cut.stays == "weights":
        grid = [(row, channel) for channel in channels for row in rows]
    else:
        grid = [(row, channel) for row in rows for channel in channels]
    per_group = shape.channels // shape.groups
    known: dict[tuple[int, ...], HtaTile] = {}
    held_rows = held_weights = (-1, -1)
    for ((row, height), (channel, wide)), (piece, depth) in product(grid, depths):
        fetches_rows = not room.input_held and held_rows != (row, piece)
        fetches_weights = held_weights != (channel, piece)
        is_last = piece == len(depths) - 1
        phase = channel * cut.channels % per_group
        key = (height, wide, depth, phase, piece > 0, is_last, fetches_rows, fetches_weights)
        if key not in known:
            results = shape.output_bytes(height, wide)
            sums = height * shape.width * wide * _SUM_BYTES
            known[key] = HtaTile(
                math.ceil(shape.input_bytes(height) * depth / shape.depth) if fetches_rows else 0,
                shape.weight_bytes(wide, depth) if fetches_weights else 0,
                array.clocks(
                    shape,
                    rows=height,
                    channels=wide,
                    depth=depth,
                    bits=8 * shape.activation_bytes,
                    first=phase,
                ),
                array.stage_clocks(results if is_last else sums),
                results if is_last and not room.output_held else 0,
                sums_fetched=sums if piece else 0,
                sums_written=0 if is_last else sums,
            )
        yield known[key]
        held_rows, held_weights = (row, piece), (channel, piece)


def _pieces(size: int, piece: int) -> list[int]:
    """`size` cut into pieces, the last one perhaps smaller."""
    return [min(piece, size - start) for start in range(0, size, piece)]
