"""The inner loop of a matrix product as LLVM IR: a tile of pixels by channels in registers.

Accumulators stay in registers for the whole sum. Each step takes four bytes of activations of every
pixel, broadcast, and four bytes of weights of every channel, and adds their products to int32:

- int16 activations: two, by `vpmaddwd`, for any weights of 9 bits;
- u8 activations: four, by `vpdpbusd`, for signed 8-bit weights;
- u8 activations without VNNI: `vpmaddubsw` adds two products in 16 bits; `gemm.guarded_panels`
  packs the weights so that no sum saturates. Two such sums of two steps are added in 16 bits, and
  one `vpmaddwd` by ones adds them to int32: five instructions for eight products of a channel,
  where pairs of int16 take eight.

All are exact and wrap modulo 2^32. A table says where the activations of each step are, so that no
loop knows of windows. docs/concepts/int8-kernels.md has the drawing.

While it multiplies by a panel it prefetches the weights of the next panels. A prefetch of only a
line or two ahead would be too late for weights that lie in memory.

The sum of a run of codes, 32 at a time: their differences from zero, eight by eight.
"""

from collections.abc import Sequence
from functools import partial, reduce
from typing import Any

from llvmlite import ir
from numba.core import types

from hexsim.int8.machine_code.addresses import (
    BYTE,
    INT32,
    INT64,
    WORD,
    broadcast,
    call,
    constants,
    load,
    prefetch,
    repeat,
    store,
)
from hexsim.int8.machine_code.features import has_wide_dots
from hexsim.int8.machine_code.jit import emits
from hexsim.int8.panel import COLUMNS, STEP_BYTES
from hexsim.records import dataclass


@dataclass(frozen=True)
class RegisterTile:
    """A tile of `rows` pixels by `panels` panels, in registers of `lanes` int32."""

    rows: int
    panels: int
    lanes: int
    instruction: str

    @property
    def sums(self) -> Any:
        """Return the type of a register of sums."""
        return ir.VectorType(INT32, self.lanes)


_MULTIPLY_PAIRS = "llvm.x86.avx2.pmadd.wd"
PAIRS = RegisterTile(6, 1, 8, _MULTIPLY_PAIRS)
"""12 accumulators of the 16 registers."""
GUARDED = RegisterTile(4, 1, 8, "llvm.x86.avx2.pmadd.ub.sw")
"""8 accumulators, 4 vectors of weights, ones and 3 temporary vectors, of the 16 registers."""
DOTS_256 = RegisterTile(6, 1, 8, "llvm.x86.avx512.vpdpbusd.256")
DOTS_512 = RegisterTile(7, 2, 16, "llvm.x86.avx512.vpdpbusd.512")
"""14 accumulators of the 32 registers; more rows run out of registers for their addresses."""


def tile_of(element_bytes: int) -> RegisterTile:
    """Return the tile for activations of that size."""
    if element_bytes == 2:
        return PAIRS
    return DOTS_512 if has_wide_dots() else DOTS_256


@dataclass(frozen=True)
class Factors:
    """The operands of a tile, as values of the IR.

    `bases` has an address of activations for each row, and `offsets` is the address of a table of
    the bytes from there to each step. `weights` is the address of (panels, steps, COLUMNS,
    STEP_BYTES), a panel every `panel_bytes`. Of the steps, `twos` times two are taken together,
    which only guarded weights allow, then `ones` one by one.
    """

    bases: Sequence[Any]
    offsets: Any
    weights: Any
    panel_bytes: Any
    twos: Any
    ones: Any


def summed(
    builder: Any, tile: RegisterTile, panels: int, factors: Factors, sums: Sequence[Any]
) -> list[Any]:
    """Emit the product; return `sums` with it added, vectors of one row after the other."""
    state = [factors.offsets, factors.weights, *sums]
    turn = partial(_turn, builder, tile, panels, factors)
    if tile is GUARDED:
        state = repeat(builder, factors.twos, state, partial(turn, 2), maybe_none=True)
    one_by_one = repeat(builder, factors.ones, state, partial(turn, 1), maybe_none=tile is GUARDED)
    return one_by_one[2:]


def _turn(
    builder: Any, tile: RegisterTile, panels: int, factors: Factors, together: int, state: list[Any]
) -> list[Any]:
    offsets, weights, *sums = state
    starts = panel_starts(builder, weights, factors.panel_bytes, panels)
    next_panels = builder.mul(factors.panel_bytes, INT64(panels))
    for start in starts:
        prefetch(builder, builder.add(start, next_panels))
    places = [
        load(builder, builder.add(offsets, INT64(8 * step)), INT64) for step in range(together)
    ]
    columns = [
        [
            load(
                builder, builder.add(start, INT64(STEP_BYTES * (COLUMNS * step + lane))), tile.sums
            )
            for step in range(together)
        ]
        for start in starts
        for lane in range(0, COLUMNS, tile.lanes)
    ]
    after = []
    for row, base in enumerate(factors.bases):
        activations = [
            broadcast(builder, load(builder, builder.add(base, place), INT32), tile.sums)
            for place in places
        ]
        for v, column in enumerate(columns):
            total = sums[row * len(columns) + v]
            after.append(multiply_add(builder, tile, total, activations, column))
    return [
        builder.add(offsets, INT64(8 * together)),
        builder.add(weights, INT64(STEP_BYTES * COLUMNS * together)),
        *after,
    ]


def panel_starts(builder: Any, weights: Any, panel_bytes: Any, panels: int) -> list[Any]:
    """Return the addresses of the panels' weights, the first at `weights`."""
    return [builder.add(weights, builder.mul(panel_bytes, INT64(panel))) for panel in range(panels)]


def multiply_add(
    builder: Any, tile: RegisterTile, total: Any, activations: list[Any], weights: list[Any]
) -> Any:
    """Return `total` plus the products of one step, or of two that a tile takes together."""
    words = ir.VectorType(WORD, 2 * tile.lanes)
    if tile.instruction == PAIRS.instruction:
        x, y = (builder.bitcast(*operand, words) for operand in (activations, weights))
        return builder.add(total, call(builder, tile.instruction, tile.sums, x, y))
    if tile is not GUARDED:
        return call(builder, tile.instruction, tile.sums, total, *activations, *weights)
    codes = ir.VectorType(BYTE, 4 * tile.lanes)
    short, *others = (
        call(
            builder, tile.instruction, words, *(builder.bitcast(operand, codes) for operand in pair)
        )
        for pair in zip(activations, weights, strict=True)
    )
    for other in others:
        short = builder.add(short, other)
    ones = constants(words, 1)
    return builder.add(total, call(builder, _MULTIPLY_PAIRS, tile.sums, short, ones))


@emits(types.void, None, *[types.intp] * 6)
def multiply_tile(builder: Any, x: Any, *arguments: Any) -> None:
    """Store into `tile` the sums over `steps` steps of every panel of a tile.

    `x` is the array of activations, for its type. The others are those of `store_product`, all but
    the count addresses. `rows` holds the tile's addresses of activations; `offsets` holds the
    offset in bytes of each step, added to each; `weights` is (panels, steps, COLUMNS, STEP_BYTES),
    a panel every `panel_bytes`; `tile` is int32 (rows, panels, COLUMNS). There is at least one
    step.
    """
    shape = tile_of(x.dtype.bitwidth // 8)
    store_product(builder, shape, shape.panels, arguments)


def store_product(builder: Any, tile: RegisterTile, panels: int, arguments: Sequence[Any]) -> None:
    """Emit what `multiply_tile` does."""
    rows, offsets, steps, weights, panel_bytes, target = arguments
    bases = [load(builder, builder.add(rows, INT64(8 * row)), INT64) for row in range(tile.rows)]
    vectors = tile.rows * panels * COLUMNS // tile.lanes
    factors = Factors(bases, offsets, weights, panel_bytes, INT64(0), steps)
    sums = summed(builder, tile, panels, factors, [constants(tile.sums, 0)] * vectors)
    for index, total in enumerate(sums):
        store(builder, total, builder.add(target, INT64(STEP_BYTES * tile.lanes * index)))


_WIDTH = 32
"""Codes of a register."""
_CODES, _SUMS = ir.VectorType(BYTE, _WIDTH), ir.VectorType(INT64, _WIDTH // 8)


@emits(types.intp, types.intp, types.intp)
def sum_of_codes(builder: Any, address: Any, count: Any) -> Any:
    """Return the sum of `count` codes at an address; needs AVX2."""
    state = [address, constants(_SUMS, 0)]
    remaining = count
    for piece in (_CODES, INT64, BYTE):
        size = _WIDTH if piece is _CODES else piece.width // 8
        turns = builder.udiv(remaining, INT64(size))
        remaining = builder.sub(remaining, builder.mul(turns, INT64(size)))
        state = repeat(builder, turns, state, partial(_add, builder, piece, size), maybe_none=True)
    return reduce(
        builder.add, (builder.extract_element(state[1], INT32(lane)) for lane in range(4))
    )


def _add(builder: Any, piece: Any, size: int, state: list[Any]) -> list[Any]:
    """Add the codes in one value of type `piece`: their differences from zero, eight by eight."""
    address, total = state
    codes = load(builder, address, piece)
    if piece is not _CODES:
        word = codes if piece is INT64 else builder.zext(codes, INT64)
        words = builder.insert_element(constants(_SUMS, 0), word, INT32(0))
        codes = builder.bitcast(words, _CODES)
    sums = call(builder, "llvm.x86.avx2.psad.bw", _SUMS, codes, constants(_CODES, 0))
    return [builder.add(address, INT64(size)), builder.add(total, sums)]
