"""`requantize.scalar` on vectors of sums, as LLVM IR.

Plain loops over so few elements spend more time on deciding how to run than on running. 64-bit
products are made of the even and the odd 32-bit lanes in turn, which is how CPUs multiply to 64
bits; most layers have no shift and skip its saturation. Codes are clamped as bytes: packing to u8
saturates to 0 .. 255 first, which changes no result, because `low` and `high` lie in there.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import cycle
from typing import Any

from llvmlite import ir
from numba.core import types
from numba.extending import intrinsic

from hexsim.int8.machine_code.vector_ir import (
    BYTE,
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
from hexsim.int8.panel import COLUMNS, GROUP, SUM_BYTES

_ROW = ir.VectorType(BYTE, COLUMNS)
_PACKED = 4
"""Vectors of sums of which codes fill one."""


@dataclass(frozen=True)
class TailValues:
    """Constants of a panel as values of the IR; the first three are addresses of int32."""

    preload: Any
    multiplier: Any
    shift: Any
    shifts: Any
    low: Any
    high: Any


def store_rows(
    builder: Any, rows: Sequence[Sequence[Any]], tails: Sequence[TailValues],
    places: Sequence[Any], order: Sequence[int],
) -> None:  # fmt: skip
    """Emit the store of rows of codes at the addresses `places`, the first row last.

    A row has a vector of sums, two or four, whose lanes are the channels that `order` says.
    """
    vectors = len(rows[0])
    columns = len(order)
    flat = _requantized(builder, [one for row in rows for one in row], tails)
    low, high = (builder.trunc(one, BYTE) for one in (tails[0].low, tails[0].high))
    together = _PACKED // vectors
    for first in reversed(range(0, len(rows), together)):
        sums = flat[vectors * first :][:_PACKED]
        codes = _clamped(builder, _packed(builder, sums, vectors, order), low, high)
        for at in reversed(range(len(sums) // vectors)):
            row = shuffled(builder, codes, codes, range(columns * at, columns * (at + 1)))
            store(builder, row, places[first + at])


def _packed(builder: Any, sums: Sequence[Any], vectors: int, order: Sequence[int]) -> Any:
    """The codes, held in 0 .. 255, of rows of so many vectors each."""
    lanes = sums[0].type.count
    four = [*sums, *[sums[0]] * (_PACKED - len(sums))]
    words, codes = ir.VectorType(WORD, 2 * lanes), ir.VectorType(BYTE, _PACKED * lanes)
    family, size = ("avx2", "") if lanes == 8 else ("avx512", ".512")
    to_words, to_codes = (f"llvm.x86.{family}.{name}{size}" for name in ("packssdw", "packuswb"))
    pairs = [call(builder, to_words, words, *four[at : at + 2]) for at in (0, 2)]
    quads = builder.bitcast(call(builder, to_codes, codes, *pairs), sums[0].type)
    # Packing leaves the first group of all vectors before the second of any.
    place = {
        (at // vectors, order[at % vectors * lanes + GROUP * group]): _PACKED * group + at
        for at in range(_PACKED)
        for group in range(lanes // GROUP)
    }
    line = [place[channel] for channel in sorted(place)]
    return builder.bitcast(shuffled(builder, quads, quads, line), codes)


def _narrowed(builder: Any, sums: Any) -> Any:
    """The codes, held in 0 .. 255, of a row."""
    held = _choose(builder, "<", sums, constants(sums.type, 0))
    held = _choose(builder, ">", held, constants(sums.type, 255))
    return builder.trunc(held, _ROW)


def _clamped(builder: Any, codes: Any, low: Any, high: Any) -> Any:
    least, most = (broadcast(builder, one, codes.type) for one in (low, high))
    codes = builder.select(builder.icmp_unsigned("<", codes, least), least, codes)
    return builder.select(builder.icmp_unsigned(">", codes, most), most, codes)


def _requantized(builder: Any, sums: list[Any], tails: Sequence[TailValues]) -> list[Any]:
    """int32 codes, not yet clamped, of rows of sums whose preload is added."""
    kind = sums[0].type
    lanes = range(0, COLUMNS, kind.count)

    def constant(addresses: Iterable[Any]) -> Iterator[Any]:
        vectors = [
            load(builder, builder.add(address, INT64(SUM_BYTES * lane)), kind)
            for address in addresses
            for lane in lanes
        ]
        return cycle(vectors)

    def shifted() -> list[Any]:
        bits = constant(tail.shift for tail in tails)
        return [_saturating_shift(builder, *one) for one in zip(sums, bits, strict=False)]

    shifts = builder.icmp_signed("!=", tails[0].shifts, INT64(0))
    factors = constant(tail.multiplier for tail in tails)
    after = when(builder, shifts, sums, shifted)
    return [_rounded_product(builder, *one) for one in zip(after, factors, strict=False)]


def _choose(builder: Any, comparison: str, x: Any, y: Any) -> Any:
    """`y` where x compares with it, else x."""
    return builder.select(builder.icmp_signed(comparison, x, y), y, x)


def _saturating_shift(builder: Any, total: Any, bits: Any) -> Any:
    shifted = builder.shl(total, bits)
    for comparison, limit in ((">", 0x7FFFFFFF), ("<", -0x80000000)):
        held = constants(total.type, limit)
        beyond = builder.icmp_signed(comparison, total, builder.ashr(held, bits))
        shifted = builder.select(beyond, held, shifted)
    return shifted


def _rounded_product(builder: Any, x: Any, y: Any) -> Any:
    """(x * y + 2^30) >> 31 of each lane, modulo 2^32."""
    lanes = x.type.count
    halves = ir.VectorType(INT64, lanes // 2)
    word = constants(halves, 32)
    pairs = [builder.bitcast(one, halves) for one in (x, y)]
    even = builder.mul(*(builder.ashr(builder.shl(one, word), word) for one in pairs))
    odd = builder.mul(*(builder.ashr(one, word) for one in pairs))
    half = constants(halves, 1 << 30)
    even = builder.lshr(builder.add(even, half), constants(halves, 31))
    odd = builder.shl(builder.add(odd, half), constants(halves, 1))
    order = [lane + (lanes if lane % 2 else 0) for lane in range(lanes)]
    even, odd = (builder.bitcast(one, x.type) for one in (even, odd))
    return shuffled(builder, even, odd, order)


@intrinsic  # type: ignore[untyped-decorator]
def requantize_rows(
    typing: Any, count: Any, sums: Any, sums_step: Any, addends: Any, preload: Any,
    multiplier: Any, shift: Any, shifts: Any, low: Any, high: Any, out: Any, out_step: Any,
) -> Any:  # fmt: skip
    """Store `count` (at least 1) rows of COLUMNS codes, `out_step` bytes apart, from address `out`.

    Rows of sums are `sums_step` bytes apart; `addends` holds one int32 for each, added to all its
    sums. `preload`, `multiplier` and `shift` are addresses of COLUMNS int32 each; `shifts` is not
    zero if any shift is. `low` and `high` are int32, all others intp.
    """
    word, size = types.int32, types.intp
    return types.void(*[size] * 8, word, word, size, size), _requantize_rows


def _requantize_rows(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
    count, sums, sums_step, addends, *constant, out, out_step = arguments
    tail = TailValues(*constant)
    low, high = (builder.trunc(one, BYTE) for one in (tail.low, tail.high))
    kind = ir.VectorType(INT32, COLUMNS)

    def row(state: list[Any]) -> Sequence[Any]:
        at_sums, at_addends, at_out = state
        addend = broadcast(builder, load(builder, at_addends, INT32), kind)
        total = builder.add(load(builder, at_sums, kind), load(builder, tail.preload, kind))
        (code,) = _requantized(builder, [builder.add(total, addend)], [tail])
        store(builder, _clamped(builder, _narrowed(builder, code), low, high), at_out)
        return (
            builder.add(at_sums, sums_step), builder.add(at_addends, INT64(SUM_BYTES)),
            builder.add(at_out, out_step),
        )  # fmt: skip

    repeat(builder, count, [sums, addends, out], row)
    return context.get_dummy_value()
