"""Cutting a layer with weights into tiles that fit the engine's local memory.

Half of the local memory holds activations between layers, the other half is two buffers, so that
the next tile is fetched while the array works on this one. A tile is some rows of the output by
some of its channels; either the weights stay in local memory while the rows change, or the rows
while the weights change, and the others are fetched again. If not even one row and one group of
channel lanes fits a buffer, the groups pass over rows one after another. As much of these rows
stays as the other half of the local memory keeps, and the array waits for the rest at each pass.
That is inferred from 1x1 convolutions over 1024 pixels on sd865 (measured_latency.csv): from 768
channels, of which two thirds stay, a pass takes 60 us, and from 3072 almost ten times as long.

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
_ENOUGH = 256
"""Tiles of one layer; finer cuts hardly shorten the first fetch (assumed)."""
_REMEMBERED = 1024
"""Layers whose tiles are cached, because networks repeat layers and sweeps repeat networks."""


@dataclass(frozen=True)
class TileLimits:
    """Limits of a tile: bytes of one buffer and of the half of the local memory that keeps
    activations, the rates of the DMA and of rows fetched again, and tensors in local memory.

    `input_held` and `output_held` say that the activations of the layer stay on chip, so that
    they are not fetched or written.
    """

    buffer_bytes: int
    kept_bytes: int
    dma_bytes_per_clk: float
    refetch_bytes_per_clk: float
    command_clocks: float
    input_held: bool
    output_held: bool


@dataclass(frozen=True)
class HtaTile:
    """One piece of a layer: the bytes that it fetches and writes, and its clocks.

    In `refetch_clocks` the rows arrive that a pass over them has to fetch again.
    """

    activation_bytes: int
    weight_bytes: int
    array_clocks: int
    stage_clocks: int
    write_bytes: int
    refetch_clocks: int = 0

    @property
    def read_bytes(self) -> int:
        """All bytes that are fetched."""
        return self.activation_bytes + self.weight_bytes

    @cached_property
    def clocks(self) -> int:
        """The clocks of the tile; array, stage and fetching again go on at the same time."""
        return max(self.array_clocks, self.stage_clocks, self.refetch_clocks)

    @cached_property
    def moved_bytes(self) -> int:
        """All bytes that the DMA moves."""
        return self.read_bytes + self.write_bytes


@dataclass(frozen=True)
class _Cut:
    rows: int
    channels: int
    stays: Stays

    def count(self, shape: MacShape) -> int:
        """Number of tiles."""
        return math.ceil(shape.rows / self.rows) * math.ceil(shape.channels / self.channels)


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
    """Return the cuts whose tiles fit; if none does, passes over one row or more."""
    least = math.lcm(array.channel_lanes, shape.channel_step)
    sizes = list(product(_halves(shape.rows, 1), _halves(shape.channels, least)))
    fitting = [size for size in sizes if _fits(shape, room, *size)]
    if not fitting:
        return [_Cut(rows, sizes[-1][1], "rows") for rows in _halves(shape.rows, 1)]
    return [_Cut(*size, stays) for size in fitting for stays in _orders(shape, *size)]


def _orders(shape: MacShape, rows: int, channels: int) -> tuple[Stays, ...]:
    """Return both orders, or one if they are the same because one dimension is not cut."""
    orders: tuple[Stays, ...] = get_args(Stays)
    return orders if rows < shape.rows and channels < shape.channels else orders[:1]


def _fits(shape: MacShape, room: TileLimits, rows: int, channels: int) -> bool:
    size = shape.weight_bytes(channels, shape.depth)
    size += 0 if room.input_held else shape.input_bytes(rows)
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
    """Yield the tiles of one cut; what stays of the operands of the last tile is not fetched."""
    rows = list(enumerate(_pieces(shape.rows, cut.rows)))
    channels = list(enumerate(_pieces(shape.channels, cut.channels)))
    if cut.stays == "weights":
        grid = [(row, channel) for channel in channels for row in rows]
    else:
        grid = [(row, channel) for row in rows for channel in channels]
    per_group = shape.channels // shape.groups
    tile_cache: dict[tuple[int, ...], HtaTile] = {}
    held_row = held_weights = -1
    for (row, height), (channel, width) in grid:
        is_same_row, fetches_weights = held_row == row, held_weights != channel
        phase = channel * cut.channels % per_group
        key = (height, width, phase, is_same_row, fetches_weights)
        if key not in tile_cache:
            results = shape.output_bytes(height, width)
            source = 0 if room.input_held else shape.input_bytes(height)
            refetched = max(0, source - room.kept_bytes) if is_same_row else 0
            tile_cache[key] = HtaTile(
                refetched if is_same_row else source,
                shape.weight_bytes(width, shape.depth) if fetches_weights else 0,
                array.clocks(
                    shape,
                    rows=height,
                    channels=width,
                    depth=shape.depth,
                    bits=8 * shape.activation_bytes,
                    first=phase,
                ),
                array.stage_clocks(results),
                0 if room.output_held else results,
                math.ceil(refetched / room.refetch_bytes_per_clk),
            )
        yield tile_cache[key]
        held_row, held_weights = row, channel


def _pieces(size: int, piece: int) -> list[int]:
    """Cut `size` into pieces; the last one may be smaller."""
    return [min(piece, size - start) for start in range(0, size, piece)]
