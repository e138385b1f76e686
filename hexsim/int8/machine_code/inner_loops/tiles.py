"""One tile of a convolution from codes to codes: product and requantise stage, all in registers.

Sums begin as the preload, so that the stage need not add it. In a depthwise convolution, pixels by
channels, a step is as many taps as fill four bytes: two of int16 activations, four of codes. Their
activations are interleaved channel by channel, and one instruction multiplies them by the step's
weights and adds the products. Interleaving stays within the 128-bit groups of a register, where it
is cheap: the first register of sums has the first four channels of each group, the next one the
next four. Weights and constants are packed in that order.
"""

from collections.abc import Callable, Sequence
from functools import partial
from typing import Any

from llvmlite import ir
from numba.core import types

from hexsim.int8.machine_code.addresses import (
    INT32,
    INT64,
    broadcast,
    joined,
    load,
    repeat,
    shuffled,
    store,
    when,
)
from hexsim.int8.machine_code.inner_loops.microkernel import (
    DOTS_512,
    GUARDED,
    PAIRS,
    Factors,
    RegisterTile,
    multiply_add,
    panel_starts,
    summed,
    tile_of,
)
from hexsim.int8.machine_code.inner_loops.requantize import RequantizeValues, store_rows
from hexsim.int8.machine_code.jit import emits
from hexsim.int8.panel import COLUMNS, GROUP, STEP_BYTES, SUM_BYTES
from hexsim.records import dataclass

PAIRS_BY_CHANNEL = RegisterTile(4, 1, 8, PAIRS.instruction)
"""8 accumulators, 2 vectors of weights and 4 temporary ones, of 16 registers."""
DOTS_BY_CHANNEL = RegisterTile(4, 4, 16, DOTS_512.instruction)
"""16 accumulators, 4 vectors of weights and 8 temporary ones, of 32 registers."""


def tile_by_channel(element_bytes: int) -> RegisterTile:
    """Return the tile for activations of that size; codes need registers of 64 bytes."""
    return PAIRS_BY_CHANNEL if element_bytes == 2 else DOTS_BY_CHANNEL


def taps_of(tile: RegisterTile) -> int:
    """Return the taps of a step."""
    return 2 if tile is PAIRS_BY_CHANNEL else STEP_BYTES


def order_of(tile: RegisterTile, panels: int) -> list[int]:
    """Return the channel of each sum of `panels` panels that are computed together."""
    vectors = taps_of(tile)
    groups = panels * COLUMNS // (GROUP * vectors)
    quads = (GROUP * (group * vectors + v) for v in range(vectors) for group in range(groups))
    return [quad + lane for quad in quads for lane in range(GROUP)]


def summed_by_channel(
    builder: Any, tile: RegisterTile, panels: int, factors: Factors, sums: Sequence[Any]
) -> list[Any]:
    """Emit what `microkernel.summed` does, for steps of several taps with an offset each."""
    count = taps_of(tile)
    values = ir.VectorType(ir.IntType(8 * STEP_BYTES // count), panels * COLUMNS)
    vectors = panels * COLUMNS // tile.lanes

    def step(state: list[Any]) -> list[Any]:
        offsets, weights, *before = state
        taps = [load(builder, builder.add(offsets, INT64(8 * tap)), INT64) for tap in range(count)]
        columns = [
            load(builder, builder.add(start, INT64(STEP_BYTES * lane)), tile.sums)
            for start in panel_starts(builder, weights, factors.panel_bytes, panels)
            for lane in range(0, COLUMNS, tile.lanes)
        ]
        after = []
        for row, base in enumerate(factors.bases):
            rows = [load(builder, builder.add(base, tap), values) for tap in taps]
            mixed = _interleaved(builder, rows)
            per_column = len(mixed) // vectors
            for v, column in enumerate(columns):
                codes = joined(builder, mixed[per_column * v : per_column * (v + 1)])
                codes = builder.bitcast(codes, tile.sums)
                total = before[vectors * row + v]
                after.append(multiply_add(builder, tile, total, [codes], [column]))
        return [
            builder.add(offsets, INT64(8 * count)),
            builder.add(weights, INT64(STEP_BYTES * COLUMNS)),
            *after,
        ]

    return repeat(builder, factors.ones, [factors.offsets, factors.weights, *sums], step)[2:]


def _interleaved(builder: Any, vectors: Sequence[Any]) -> list[Any]:
    """Return as many vectors: the first elements of each 128-bit group, then the next ones."""
    if len(vectors) == 1:
        return list(vectors)
    half = len(vectors) // 2
    first, second = (_interleaved(builder, part) for part in (vectors[:half], vectors[half:]))
    mixed = []
    for x, y in zip(first, second, strict=True):
        count, size = x.type.count, 128 // x.type.element.width
        wider = ir.VectorType(ir.IntType(2 * x.type.element.width), count // 2)
        for part in range(0, size, size // 2):
            places = [at + lane for at in range(part, count, size) for lane in range(size // 2)]
            lanes = [lane for place in places for lane in (place, count + place)]
            mixed.append(builder.bitcast(shuffled(builder, x, y, lanes), wider))
    return mixed


STAGE_BYTES = 3 * SUM_BYTES * COLUMNS
"""Bytes of a panel's constants: COLUMNS preloads, then multipliers (or factors), then shifts."""


@dataclass(frozen=True)
class _TileKind:
    """A tile, the loop that sums into it, and the channel of each sum of a number of panels."""

    tile: RegisterTile
    summed: Callable[..., list[Any]] = summed
    order: Callable[[int], Sequence[int]] = lambda panels: range(panels * COLUMNS)


@dataclass(frozen=True)
class _ResultPlace:
    """The place of a tile's results: `count` rows from address `to`, `step` bytes apart.

    `item_bytes` distinguishes codes from sums.
    """

    to: Any
    step: Any
    count: Any
    item_bytes: int

    def rows(self, builder: Any, tile: RegisterTile) -> list[Any]:
        """Return the addresses of rows; those behind `count` are the last, to be stored first."""
        places = [self.to]
        for row in range(1, tile.rows):
            inside = builder.icmp_signed("<", INT64(row), self.count)
            step = builder.select(inside, self.step, INT64(0))
            places.append(builder.add(places[-1], step))
        return places


def _stage_at(builder: Any, constants: Any, limits: Sequence[Any]) -> RequantizeValues:
    """Return the stage of the panel whose constants are at an address; `limits`: way, low, high."""
    addresses = (builder.add(constants, INT64(SUM_BYTES * COLUMNS * row)) for row in range(3))
    return RequantizeValues(*addresses, *limits)


def _store_sums(
    builder: Any, rows: Sequence[Sequence[Any]], places: Sequence[Any], order: Sequence[int]
) -> None:
    """Emit the store of rows of sums, the first row last."""
    lanes = [order.index(channel) for channel in range(len(order))]
    for row, place in reversed(list(zip(rows, places, strict=True))):
        sums = joined(builder, row)
        store(builder, shuffled(builder, sums, sums, lanes), place)


def _tile(
    builder: Any, kind: _TileKind, panels: int, bases: Sequence[Any], product: Sequence[Any],
    stages: Sequence[Any], place: _ResultPlace,
) -> None:  # fmt: skip
    tile = kind.tile
    offsets, twos, ones, weights, panel_bytes = product
    constants, addends, *limits = stages
    panel_stages = [
        _stage_at(builder, builder.add(constants, INT64(STAGE_BYTES * panel)), limits)
        for panel in range(panels)
    ]
    preloads = [
        load(builder, builder.add(stage.preload, INT64(SUM_BYTES * lane)), tile.sums)
        for stage in panel_stages
        for lane in range(0, COLUMNS, tile.lanes)
    ]
    factors = Factors(bases, offsets, weights, panel_bytes, twos, ones)

    def with_addends() -> list[Any]:
        sums: list[Any] = []
        for row in range(tile.rows):
            addend = load(builder, builder.add(addends, INT64(SUM_BYTES * row)), INT32)
            addends_vector = broadcast(builder, addend, tile.sums)
            sums.extend(builder.add(preload, addends_vector) for preload in preloads)
        return sums

    has_addends = builder.icmp_signed("!=", addends, INT64(0))
    sums = when(builder, has_addends, preloads * tile.rows, with_addends)
    sums = kind.summed(builder, tile, panels, factors, sums)
    vectors = len(preloads)
    rows = [sums[first : first + vectors] for first in range(0, len(sums), vectors)]
    places = place.rows(builder, tile)
    if place.item_bytes == SUM_BYTES:
        _store_sums(builder, rows, places, kind.order(panels))
    else:
        store_rows(builder, rows, panel_stages, places, kind.order(panels))


def _convolving(kind_of: Callable[[int], _TileKind]) -> Any:
    @emits(types.void, None, None, *[types.intp] * 16)
    def convolve(
        builder: Any, x: Any, out: Any, panels: Any, base: Any, starts: Any, *rest: Any
    ) -> None:
        """Compute and store `panels` panels (see `panel.together`) of a tile of pixels.

        `x` and `out` are the arrays of activations and of the output, for their types. A row's
        activations begin at address `base` plus the row's entry of the table `starts`. The rest are
        offsets, twos, ones, weights and panel_bytes, as in `microkernel.Factors`; the address of
        STAGE_BYTES for each panel, that of an int32 for each row, or 0; way, low and high, as in
        `requantize.RequantizeValues`; and to, step and count: so many rows of the tile are stored
        from address `to`, `step` bytes apart.
        """
        kind = kind_of(x.dtype.bitwidth // 8)
        tile = kind.tile
        product, stages, (to, step, count) = rest[:5], rest[5:10], rest[10:]
        bases = [
            builder.add(base, load(builder, builder.add(starts, INT64(8 * row)), INT64))
            for row in range(tile.rows)
        ]
        place = _ResultPlace(to, step, count, out.dtype.bitwidth // 8)

        def emit(count: int) -> None:
            if count == 1:
                _tile(builder, kind, 1, bases, product, stages, place)
                return
            is_count = builder.icmp_signed("==", panels, INT64(count))
            with builder.if_else(is_count) as (then, otherwise):
                with then:
                    _tile(builder, kind, count, bases, product, stages, place)
                with otherwise:
                    emit(count // 2)

        emit(tile.panels)

    return convolve


def _by_channel(tile: RegisterTile) -> _TileKind:
    return _TileKind(tile, summed_by_channel, partial(order_of, tile))


convolve_tile = _convolving(lambda item_bytes: _TileKind(tile_of(item_bytes)))
convolve_guarded_tile = _convolving(lambda _: _TileKind(GUARDED))
convolve_channels_tile = _convolving(lambda item_bytes: _by_channel(tile_by_channel(item_bytes)))
