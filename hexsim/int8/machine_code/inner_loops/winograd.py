"""The inner loop of Winograd's products as LLVM IR: pairs of int16 by `vpmaddwd` or `vpdpwssd`.

It differs from `microkernel` in what it reads: rows lie at one distance from each other, without a
table, and there are so many weights, for so few rows, that reading them decides the time. If they
do not fit a cache, prefetching those of the next product makes products up to 1.8 times as fast.

Maps of squares of vectors in two dimensions: what Winograd's algorithm does to its tiles.

Lanes are channels. Each function loads a square of vectors, maps its columns, then its rows, by
shifts, sums and differences, and stores a square of vectors. The IR names no instruction of a CPU.
"""

from collections.abc import Callable
from typing import Any

from llvmlite import ir
from numba.core import types

from hexsim.int8.machine_code.addresses import (
    BYTE,
    INT32,
    INT64,
    WORD,
    broadcast,
    constants,
    load,
    prefetch,
    repeat,
    store,
)
from hexsim.int8.machine_code.features import compiled_features
from hexsim.int8.machine_code.inner_loops.microkernel import (
    PAIRS,
    RegisterTile,
    multiply_add,
    panel_starts,
)
from hexsim.int8.machine_code.jit import emits
from hexsim.int8.panel import COLUMNS, STEP_BYTES

PAIRS_512 = RegisterTile(8, 2, 16, "llvm.x86.avx512.vpdpwssd.512")
"""16 accumulators of the 32 registers; outputs of 13x13 to 16x16 are two times 8 tiles."""


def pair_tile() -> RegisterTile:
    """Return the tile that the CPU's registers allow."""
    return PAIRS_512 if "+avx512vnni" in compiled_features() else PAIRS


@emits(types.void, *[types.intp] * 6)
def multiply_point(builder: Any, *arguments: Any) -> None:
    """Store the products of a tile of rows and panels, sums over `steps` (at least 1) steps.

    `inputs` is the address of int16 (rows, 2 * steps), a row every `row_bytes`; `weights` that of
    (panels, steps, COLUMNS, 2), a panel every `panel_bytes`; `products` that of int32 (rows,
    panels, COLUMNS).
    """
    _multiply(builder, pair_tile(), arguments)


def _multiply(builder: Any, tile: RegisterTile, arguments: Any) -> None:
    inputs, row_bytes, steps, weights, panel_bytes, products = arguments
    vectors = range(0, STEP_BYTES * COLUMNS, STEP_BYTES * tile.lanes)
    run_bytes = builder.mul(steps, INT64(STEP_BYTES * COLUMNS))

    def step(state: list[Any]) -> list[Any]:
        inputs, weights, *sums = state
        columns = []
        for panel in panel_starts(builder, weights, panel_bytes, tile.panels):
            prefetch(builder, builder.add(panel, run_bytes))
            columns += [load(builder, builder.add(panel, INT64(at)), tile.sums) for at in vectors]
        after = []
        for row in range(tile.rows):
            start = builder.add(inputs, builder.mul(row_bytes, INT64(row)))
            pair = broadcast(builder, load(builder, start, INT32), tile.sums)
            for at, column in enumerate(columns, row * len(columns)):
                after.append(multiply_add(builder, tile, sums[at], [pair], [column]))
        return [
            builder.add(inputs, INT64(STEP_BYTES)),
            builder.add(weights, INT64(STEP_BYTES * COLUMNS)),
            *after,
        ]

    zeros = [constants(tile.sums, 0)] * (tile.rows * tile.panels * len(vectors))
    for at, total in enumerate(repeat(builder, steps, [inputs, weights, *zeros], step)[2:]):
        store(builder, total, builder.add(products, INT64(STEP_BYTES * tile.lanes * at)))


Map = tuple[tuple[int, ...], ...]
"""A matrix, row by row."""
CHANNELS = 16
"""Input channels that are transformed together."""

_CODES, _WORDS = ir.VectorType(BYTE, CHANNELS), ir.VectorType(WORD, CHANNELS)
_PAIRS = ir.VectorType(WORD, 2 * COLUMNS)

Square = list[list[Any]]


def of_codes(rows: Map) -> Any:
    """Return the function that maps CHANNELS channels of a square of codes, less a zero point.

    Its arguments are intp: the address of the first pixel, whose CHANNELS bytes are read, the bytes
    from row to row and from column to column, the zero point, the address to which vectors of int16
    are stored, and the bytes between them.
    """

    @emits(types.void, *[types.intp] * 6)
    def transform(builder: Any, *arguments: Any) -> None:
        codes, row_bytes, column_bytes, zero_point, to, to_step = arguments
        square = _load_square(builder, len(rows[0]), codes, row_bytes, column_bytes, _CODES)
        zero = broadcast(builder, builder.trunc(zero_point, WORD), _WORDS)
        distances = [[builder.sub(builder.zext(x, _WORDS), zero) for x in line] for line in square]
        points = _both_ways(lambda line: _to_points(builder, rows, line), distances)
        _store_square(builder, points, to, to_step)

    return transform


def of_weights(rows: Map) -> Any:
    """Return the function that maps a square of weights, two input channels by COLUMNS channels.

    Its arguments are intp: the address of vectors of int16 and the bytes between them, and the same
    of those that are stored.
    """

    @emits(types.void, *[types.intp] * 4)
    def transform(builder: Any, weights: Any, step: Any, to: Any, to_step: Any) -> None:
        size = len(rows[0])
        square = _load_square(builder, size, weights, builder.mul(step, INT64(size)), step, _PAIRS)
        points = _both_ways(lambda line: _to_points(builder, rows, line), square)
        _store_square(builder, points, to, to_step)

    return transform


def of_products(rows: Map, inverse: int, shift: int) -> Any:
    """Return the function that maps a square of products for COLUMNS channels back to sums.

    What the map gives is multiplied by `inverse`, modulo 2^32, and shifted right by `shift`. The
    arguments are intp: the address of lines of COLUMNS int32 and the bytes between them, and the
    address to which as many bytes apart the sums are stored, without gaps.
    """

    @emits(types.void, *[types.intp] * 3)
    def transform(builder: Any, products: Any, step: Any, to: Any) -> None:
        kind = ir.VectorType(INT32, pair_tile().lanes)
        size = len(rows[0])
        row = builder.mul(step, INT64(size))
        for first in range(0, STEP_BYTES * COLUMNS, STEP_BYTES * kind.count):
            start = builder.add(products, INT64(first))
            square = _load_square(builder, size, start, row, step, kind)
            scaled = _both_ways(lambda line: _from_points(builder, rows, line), square)
            sums = [
                [
                    builder.ashr(builder.mul(x, constants(kind, inverse)), constants(kind, shift))
                    for x in line
                ]
                for line in scaled
            ]
            _store_square(builder, sums, builder.add(to, INT64(first)), INT64(STEP_BYTES * COLUMNS))

    return transform


def _both_ways(line: Callable[[list[Any]], list[Any]], square: Square) -> Square:
    """Map the columns of a square, then the rows of what that gives."""
    columns = [line(list(column)) for column in zip(*square, strict=True)]
    return [line(list(row)) for row in zip(*columns, strict=True)]


def _to_points(builder: Any, rows: Map, vectors: list[Any]) -> list[Any]:
    return _of_pairs(builder, [_combination(builder, row, vectors) for row in rows])


def _from_points(builder: Any, rows: Map, vectors: list[Any]) -> list[Any]:
    points = _of_pairs(builder, vectors)
    return [_combination(builder, row, points) for row in rows]


def _of_pairs(builder: Any, vectors: list[Any]) -> list[Any]:
    """Return the sum and the difference of two at a time of all but the first and the last."""
    result = vectors[:1]
    for x, y in zip(vectors[1:-1:2], vectors[2:-1:2], strict=True):
        result += [builder.add(x, y), builder.sub(x, y)]
    return [*result, vectors[-1]]


def _combination(builder: Any, coefficients: tuple[int, ...], vectors: list[Any]) -> Any:
    """Return the sum of vectors times coefficients, at least one of which is positive."""
    terms = [term for term in zip(coefficients, vectors, strict=True) if term[0]]
    terms.sort(key=lambda term: term[0] < 0)
    total = _times(builder, *terms[0])
    for factor, vector in terms[1:]:
        term = _times(builder, abs(factor), vector)
        total = builder.add(total, term) if factor > 0 else builder.sub(total, term)
    return total


def _times(builder: Any, factor: int, vector: Any) -> Any:
    """Return the product, made by shifts: CPUs multiply vectors of int32 slowly."""
    bits = [bit for bit in range(factor.bit_length()) if factor >> bit & 1]
    total, *others = [builder.shl(vector, constants(vector.type, bit)) for bit in bits]
    for other in others:
        total = builder.add(total, other)
    return total


def _load_square(
    builder: Any, size: int, start: Any, row_bytes: Any, column_bytes: Any, kind: Any
) -> Square:
    def vector(row: int, column: int) -> Any:
        at = builder.add(start, builder.mul(row_bytes, INT64(row)))
        at = builder.add(at, builder.mul(column_bytes, INT64(column)))
        value = builder.load(builder.inttoptr(at, kind.as_pointer()))
        value.align = 1
        return value

    return [[vector(row, column) for column in range(size)] for row in range(size)]


def _store_square(builder: Any, square: Square, start: Any, step_bytes: Any) -> None:
    for place, vector in enumerate(vector for line in square for vector in line):
        at = builder.add(start, builder.mul(step_bytes, INT64(place)))
        builder.store(vector, builder.inttoptr(at, vector.type.as_pointer())).align = 1
