"""`requantize` on vectors of sums, as LLVM IR.

Plain loops over so few elements spend more time on deciding how to run than on running. 64-bit
products are made of the even and the odd 32-bit lanes in turn, which is how CPUs multiply to 64
bits; most layers have no shift and skip its saturation. Codes are clamped as bytes: packing to u8
saturates to 0 .. 255 first, which changes no result, because `low` and `high` lie in that range.

In runs of sums, 32 at a time, negative ones may become 0 first, as codes are not negative. Then the
product with twice the multiplier fits an unsigned 64-bit lane, and the rounded code is its upper
half: lanes need neither a signed shift nor a test for the sign.

Stages whose codes floats give exactly (`requantize` says which) take four instructions in place of
eight and a clamp: sums to floats, times a factor with 1.5 * 2^23 added, and two limits. Floats of
that size are whole numbers, whose last byte is the code.
"""

from collections.abc import Callable, Iterator, Sequence
from functools import partial
from itertools import cycle
from typing import Any

from llvmlite import ir
from numba.core import cgutils, types

from hexsim.int8.machine_code.addresses import (
    BYTE,
    FLOAT,
    INT32,
    INT64,
    WORD,
    broadcast,
    call,
    constants,
    load,
    repeat,
    shuffled,
    store,
    when,
)
from hexsim.int8.machine_code.features import has_fused_floats
from hexsim.int8.machine_code.jit import emits
from hexsim.int8.panel import COLUMNS, GROUP, SUM_BYTES
from hexsim.records import dataclass

ADDED = 1.5 * 2**23
"""A number such that the sum is between 2^23 and 2^24, whatever code is added."""


class FloatRounding:
    """Emits codes of vectors of `lanes` sums, clamped to `low` .. `high`, any integers."""

    def __init__(self, builder: Any, low: Any, high: Any, lanes: int) -> None:
        self.kind = ir.VectorType(FLOAT, lanes)
        self._builder = builder
        self._added = constants(self.kind, ADDED)
        self._low, self._high = (
            broadcast(builder, builder.fadd(builder.sitofp(limit, FLOAT), FLOAT(ADDED)), self.kind)
            for limit in (low, high)
        )

    def code(self, total: Any, factor: Any) -> Any:
        """Return int32 whose last bytes are the codes of int32 sums; `factor` is a vector."""
        builder, kind = self._builder, self.kind
        operands = builder.sitofp(total, kind), factor, self._added
        code = call(builder, f"llvm.fma.v{kind.count}f32", kind, *operands)
        code = builder.select(builder.fcmp_ordered("<", code, self._high), code, self._high)
        code = builder.select(builder.fcmp_ordered(">", code, self._low), code, self._low)
        return builder.bitcast(code, total.type)


PLAIN, SHIFTED, FLOATS = range(3)
"""Ways of requantising: multipliers without shifts, multipliers with shifts, factors that are
floats."""
_ROW = ir.VectorType(BYTE, COLUMNS)
_PACKED = 4
"""Number of vectors of sums whose codes fill one vector."""


@dataclass(frozen=True)
class RequantizeValues:
    """Constants of a panel as values of the IR; the first three are addresses of int32.

    If `way` is FLOATS, the bits of floats are at `multiplier`.
    """

    preload: Any
    multiplier: Any
    shift: Any
    way: Any
    low: Any
    high: Any


def store_rows(
    builder: Any, rows: Sequence[Sequence[Any]], stages: Sequence[RequantizeValues],
    places: Sequence[Any], order: Sequence[int],
) -> None:  # fmt: skip
    """Emit the store of rows of codes at the addresses `places`, the first row last.

    A row has a vector of sums, two or four; `order` has the channels of their lanes.
    """

    vectors, sums = len(rows[0]), [total for row in rows for total in row]

    def by_integers() -> None:
        limits = _limits(builder, stages[0])
        codes = _each_packed(builder, _requantized(builder, sums, stages), vectors, order)
        _store(builder, [_clamped(builder, code, *limits) for code in codes], places, order)

    def by_floats() -> None:
        codes = _by_factors(builder, sums, stages)
        if codes[0].type.count == COLUMNS:
            code_rows = [codes[at : at + vectors] for at in range(0, len(codes), vectors)]
            packed = [_last_bytes(builder, row, order) for row in code_rows]
        else:
            codes = [builder.and_(code, constants(code.type, 255)) for code in codes]
            packed = _each_packed(builder, codes, vectors, order)
        _store(builder, packed, places, order)

    _either(builder, stages[0], by_floats, by_integers)


def _either(
    builder: Any,
    stage: RequantizeValues,
    by_floats: Callable[[], None],
    by_integers: Callable[[], None],
) -> None:
    """Emit both ways, of which the stage chooses one, if this CPU has fused multiply-adds."""
    if not has_fused_floats():
        by_integers()
        return
    floats = builder.icmp_signed("==", stage.way, INT64(FLOATS))
    with builder.if_else(floats) as (then, otherwise):
        with then:
            by_floats()
        with otherwise:
            by_integers()


def _store(builder: Any, codes: Sequence[Any], places: Sequence[Any], order: Sequence[int]) -> None:
    """Emit the store of rows, the first last; each of the vectors `codes` holds one or more."""
    columns = len(order)
    rows_per_vector = codes[0].type.count // columns
    for place in reversed(range(len(places))):
        vector, row = divmod(place, rows_per_vector)
        lanes = range(columns * row, columns * (row + 1))
        store(builder, shuffled(builder, codes[vector], codes[vector], lanes), places[place])


def _each_packed(
    builder: Any, codes: Sequence[Any], vectors: int, order: Sequence[int]
) -> list[Any]:
    """Return vectors of bytes of int32 codes, clamped to 0 .. 255; a row has `vectors` vectors."""
    parts = [codes[first : first + _PACKED] for first in range(0, len(codes), _PACKED)]
    return [_packed(builder, part, vectors, order) for part in parts]


def _last_bytes(builder: Any, vectors: Sequence[Any], order: Sequence[int]) -> Any:
    """Return the last byte of each int32 of a row of AVX-512 vectors, in the order of channels.

    They are taken from two vectors at a time, which is faster than packing.
    """
    size = SUM_BYTES * vectors[0].type.count
    byte_vectors = [builder.bitcast(vector, ir.VectorType(BYTE, size)) for vector in vectors]
    place = [SUM_BYTES * order.index(channel) for channel in range(len(order))]
    byte_pairs = [
        shuffled(
            builder,
            byte_vectors[first],
            byte_vectors[min(first + 1, len(byte_vectors) - 1)],
            [at % (2 * size) for at in place],
        )
        for first in range(0, len(byte_vectors), 2)
    ]
    lanes = [lane + (len(place) if at >= 2 * size else 0) for lane, at in enumerate(place)]
    return shuffled(builder, byte_pairs[0], byte_pairs[-1], lanes)


def _by_factors(builder: Any, sums: Sequence[Any], stages: Sequence[RequantizeValues]) -> list[Any]:
    """Return int32 whose last bytes are clamped codes, of sums whose preload is added."""
    rounding = FloatRounding(builder, stages[0].low, stages[0].high, sums[0].type.count)
    factors = _constants(builder, "multiplier", stages, rounding.kind)
    return [rounding.code(*operands) for operands in zip(sums, factors, strict=False)]


def _packed(builder: Any, sums: Sequence[Any], vectors: int, order: Sequence[int]) -> Any:
    """Return the codes, clamped to 0 .. 255, of rows of `vectors` vectors each."""
    lanes = sums[0].type.count
    four_vectors = [*sums, *[sums[0]] * (_PACKED - len(sums))]
    words, codes = ir.VectorType(WORD, 2 * lanes), ir.VectorType(BYTE, _PACKED * lanes)
    family, size = ("avx2", "") if lanes == 8 else ("avx512", ".512")
    to_words, to_codes = (f"llvm.x86.{family}.{name}{size}" for name in ("packssdw", "packuswb"))
    pairs = [call(builder, to_words, words, *four_vectors[at : at + 2]) for at in (0, 2)]
    quads = builder.bitcast(call(builder, to_codes, codes, *pairs), sums[0].type)
    # Packing leaves the first group of all vectors before the second of any.
    lane_of = {
        (at // vectors, order[at % vectors * lanes + GROUP * group]): _PACKED * group + at
        for at in range(_PACKED)
        for group in range(lanes // GROUP)
    }
    lane_order = [lane_of[channel] for channel in sorted(lane_of)]
    return builder.bitcast(shuffled(builder, quads, quads, lane_order), codes)


def _narrowed(builder: Any, sums: Any) -> Any:
    """Return the codes, clamped to 0 .. 255, of a row."""
    clamped = _choose(builder, "<", sums, constants(sums.type, 0))
    clamped = _choose(builder, ">", clamped, constants(sums.type, 255))
    return builder.trunc(clamped, _ROW)


def _clamped(builder: Any, codes: Any, low: Any, high: Any) -> Any:
    least, most = (broadcast(builder, limit, codes.type) for limit in (low, high))
    codes = builder.select(builder.icmp_unsigned("<", codes, least), least, codes)
    return builder.select(builder.icmp_unsigned(">", codes, most), most, codes)


def _limits(builder: Any, stage: RequantizeValues) -> tuple[Any, Any]:
    return builder.trunc(stage.low, BYTE), builder.trunc(stage.high, BYTE)


def _constants(
    builder: Any, name: str, stages: Sequence[RequantizeValues], kind: Any
) -> Iterator[Any]:
    """Return vectors of one of the constants of each panel, again for every row."""
    addresses = [getattr(stage, name) for stage in stages]
    vectors = [
        load(builder, builder.add(address, INT64(SUM_BYTES * lane)), kind)
        for address in addresses
        for lane in range(0, COLUMNS, kind.count)
    ]
    return cycle(vectors)


def _requantized(builder: Any, sums: list[Any], stages: Sequence[RequantizeValues]) -> list[Any]:
    """Return int32 codes, not yet clamped, of rows of sums whose preload is added."""
    kind = sums[0].type

    def shifted() -> list[Any]:
        bits = _constants(builder, "shift", stages, kind)
        return [_saturating_shift(builder, *operands) for operands in zip(sums, bits, strict=False)]

    has_shifts = builder.icmp_signed("!=", stages[0].way, INT64(PLAIN))
    multipliers = _constants(builder, "multiplier", stages, kind)
    after = when(builder, has_shifts, sums, shifted)
    return [
        _rounded_product(builder, *operands) for operands in zip(after, multipliers, strict=False)
    ]


def _choose(builder: Any, comparison: str, x: Any, y: Any) -> Any:
    """Return `y` where x compares with it, else x."""
    return builder.select(builder.icmp_signed(comparison, x, y), y, x)


def _saturating_shift(builder: Any, total: Any, bits: Any) -> Any:
    shifted = builder.shl(total, bits)
    for comparison, limit in ((">", 0x7FFFFFFF), ("<", -0x80000000)):
        bound = constants(total.type, limit)
        beyond = builder.icmp_signed(comparison, total, builder.ashr(bound, bits))
        shifted = builder.select(beyond, bound, shifted)
    return shifted


def _rounded_product(builder: Any, x: Any, y: Any) -> Any:
    """Return (x * y + 2^30) >> 31 of each lane, modulo 2^32."""
    lanes = x.type.count
    wide_lanes = ir.VectorType(INT64, lanes // 2)
    word = constants(wide_lanes, 32)
    pairs = [builder.bitcast(vector, wide_lanes) for vector in (x, y)]
    even = builder.mul(*(builder.ashr(builder.shl(pair, word), word) for pair in pairs))
    odd = builder.mul(*(builder.ashr(pair, word) for pair in pairs))
    half = constants(wide_lanes, 1 << 30)
    even = builder.lshr(builder.add(even, half), constants(wide_lanes, 31))
    odd = builder.shl(builder.add(odd, half), constants(wide_lanes, 1))
    order = [lane + (lanes if lane % 2 else 0) for lane in range(lanes)]
    even, odd = (builder.bitcast(vector, x.type) for vector in (even, odd))
    return shuffled(builder, even, odd, order)


@emits(types.void, *[types.intp] * 8, types.int32, types.int32, types.intp, types.intp)
def requantize_rows(builder: Any, *arguments: Any) -> None:
    """Store `count` (at least 1) rows of COLUMNS codes, `out_step` bytes apart, from address `out`.

    Rows of sums are `sums_step` bytes apart; `addends` holds one int32 for each, added to all its
    sums. `preload`, `multiplier`, `shift` and `way` are as in `RequantizeValues`, of COLUMNS
    channels.
    """
    count, sums, sums_step, addends, *constant, out, out_step = arguments
    stage = RequantizeValues(*constant)
    kind = ir.VectorType(INT32, COLUMNS)

    def rows(codes: Callable[[Any], Any]) -> None:
        def row(state: list[Any]) -> Sequence[Any]:
            at_sums, at_addends, at_out = state
            addend = broadcast(builder, load(builder, at_addends, INT32), kind)
            total = builder.add(load(builder, at_sums, kind), load(builder, stage.preload, kind))
            store(builder, codes(builder.add(total, addend)), at_out)
            return (
                builder.add(at_sums, sums_step), builder.add(at_addends, INT64(SUM_BYTES)),
                builder.add(at_out, out_step),
            )  # fmt: skip

        repeat(builder, count, [sums, addends, out], row)

    def by_integers(total: Any) -> Any:
        (code,) = _requantized(builder, [total], [stage])
        return _clamped(builder, _narrowed(builder, code), *_limits(builder, stage))

    def by_floats(total: Any) -> Any:
        (code,) = _by_factors(builder, [total], [stage])
        return builder.trunc(code, _ROW)

    _either(builder, stage, partial(rows, by_floats), partial(rows, by_integers))


WIDTH = 32
"""Codes per step: a vector of bytes of AVX2."""
_CODES = ir.VectorType(BYTE, WIDTH)
_SUMS = ir.VectorType(INT32, WIDTH)
_PAIRS = ir.VectorType(INT64, WIDTH // 2)


@emits(types.void, types.intp, types.intp, *[types.int32] * 4, types.intp)
def requantize_vectors(builder: Any, steps: Any, sums: Any, *others: Any) -> None:
    """Write `steps` times WIDTH codes; `sums` and `codes` are addresses.

    `others` are the scaling of `_each_step`, and the address to write.
    """
    *scaling, codes = others

    def total(at: Any) -> Any:
        return _load(builder, sums, builder.shl(at, INT64(2)), _SUMS)

    _each_step(builder, steps, total, scaling, codes)


@emits(types.void, *[types.intp] * 3, *[types.int32] * 7, types.intp)
def requantize_sums_of_two(builder: Any, steps: Any, x: Any, y: Any, *others: Any) -> None:
    """Write the codes of start + factor_x * x + factor_y * y, x and y addresses of codes.

    `others` are both factors, the start, the scaling of `_each_step`, and the address to write.
    """
    *numbers, codes = others
    factor_x, factor_y, start = (broadcast(builder, number, _SUMS) for number in numbers[:3])

    def total(at: Any) -> Any:
        parts = [start]
        for address, factor in ((x, factor_x), (y, factor_y)):
            operand = builder.zext(_load(builder, address, at, _CODES), _SUMS)
            parts.append(builder.mul(operand, factor))
        return builder.add(builder.add(parts[1], parts[2]), parts[0])

    _each_step(builder, steps, total, numbers[3:], codes)


def _each_step(
    builder: Any, steps: Any, total: Callable[[Any], Any], scaling: Sequence[Any], codes: Any
) -> None:
    """Write the codes of the sums that `total` returns for the position of each step.

    `factor` holds the bits of the float to use instead of the multiplier, or is 0.
    """
    multiplier, low, high, factor = scaling

    def by_integers() -> Callable[[Any], Any]:
        twice = broadcast(builder, builder.shl(multiplier, INT32(1)), _SUMS)
        even = _even(builder, builder.bitcast(twice, _PAIRS))
        limits = [broadcast(builder, builder.trunc(limit, BYTE), _CODES) for limit in (low, high)]

        def code(sums: Any) -> Any:
            code = _rounded(builder, _extreme(builder, "smax", sums, constants(_SUMS, 0)), even)
            code = _extreme(builder, "umin", code, constants(_SUMS, 255))
            code = _extreme(builder, "umax", builder.trunc(code, _CODES), limits[0])
            return _extreme(builder, "umin", code, limits[1])

        return code

    def by_floats() -> Callable[[Any], Any]:
        rounding = FloatRounding(builder, low, high, WIDTH)
        scale = broadcast(builder, builder.bitcast(factor, FLOAT), rounding.kind)
        return lambda sums: builder.trunc(rounding.code(sums, scale), _CODES)

    def loop(codes_of: Callable[[Any], Any]) -> None:
        with cgutils.for_range(builder, steps) as turn:
            at = builder.mul(turn.index, INT64(WIDTH))
            code = codes_of(total(at))
            builder.store(code, _at(builder, codes, at, _CODES)).align = 1

    if not has_fused_floats():
        loop(by_integers())
        return
    with builder.if_else(builder.icmp_signed("!=", factor, INT32(0))) as (then, otherwise):
        with then:
            loop(by_floats())
        with otherwise:
            loop(by_integers())


def _rounded(builder: Any, total: Any, factor: Any) -> Any:
    """Return (total * factor + 2^31) >> 32 of lanes that are not negative."""
    pairs = builder.bitcast(total, _PAIRS)
    half, word, upper = (constants(_PAIRS, value) for value in (1 << 31, 32, 0xFFFFFFFF << 32))
    even = builder.mul(_even(builder, pairs), factor)
    odd = builder.mul(builder.lshr(pairs, word), factor)
    even = builder.lshr(builder.add(even, half), word)
    odd = builder.and_(builder.add(odd, half), upper)
    return builder.bitcast(builder.or_(even, odd), _SUMS)


def _even(builder: Any, pairs: Any) -> Any:
    return builder.and_(pairs, constants(_PAIRS, 0xFFFFFFFF))


def _extreme(builder: Any, kind: str, x: Any, y: Any) -> Any:
    comparison = {"smax": ">", "umax": ">", "umin": "<"}[kind]
    compare = builder.icmp_signed if kind[0] == "s" else builder.icmp_unsigned
    return builder.select(compare(comparison, x, y), x, y)


def _load(builder: Any, address: Any, offset: Any, kind: Any) -> Any:
    value = builder.load(_at(builder, address, offset, kind))
    value.align = kind.element.width // 8
    return value


def _at(builder: Any, address: Any, offset: Any, kind: Any) -> Any:
    return builder.inttoptr(builder.add(address, offset), kind.as_pointer())
