"""Inner loops over codes as LLVM IR: a table of 256, the largest code of taps, octaves of numbers.

With AVX-512 VBMI `vpermi2b` looks up 128 entries by the lower seven bits of a code, for 64 codes.
So the table is two halves, and the top bit of a code says which half has its entry. With AVX2
`vpshufb` looks up 16 entries and gives 0 where the index has its top bit set. So the table is 16
rows of 16, each row is looked up for all codes, moved down by the row's first code and up to 0x70
with saturation, which sets the top bit of all that lie in other rows; the results are or'ed.

For the largest code of each channel a run of channels stays in registers for all taps; a loop over
the channels of each tap would load and store the largest so far again and again.
"""

from collections.abc import Callable
from typing import Any

from llvmlite import ir
from numba.core import cgutils, types

from hexsim.int8.machine_code.addresses import (
    BYTE,
    INT64,
    call,
    constants,
    load,
    repeat,
    shuffled,
    store,
)
from hexsim.int8.machine_code.features import has_byte_permutes
from hexsim.int8.machine_code.jit import emits

_WIDE = ir.VectorType(BYTE, 64)
_BYTES = ir.VectorType(BYTE, 32)
_ROW = 16
_ENTRIES = ir.VectorType(BYTE, _ROW)
_BEYOND = 0x70

LookUp = Callable[[Any], Any]
"""A function that emits the entries of a vector of codes."""


@emits(types.intp, *[types.intp] * 4)
def look_up_codes(builder: Any, count: Any, codes: Any, table: Any, out: Any) -> Any:
    """Write the entries of as many of `count` codes as fill vectors; return how many these are.

    All but the count are addresses. `codes` and `out` may be the same.
    """
    return emitted(builder, count, codes, table, out, wide=has_byte_permutes())


def emitted(builder: Any, count: Any, codes: Any, table: Any, out: Any, *, wide: bool) -> Any:
    """Emit the loop, for AVX-512 VBMI if `wide`, else for AVX2; return how many codes it does."""
    kind, look_up = (_WIDE, _by_halves) if wide else (_BYTES, _by_rows)
    entries_of = look_up(builder, table)
    width = INT64(kind.count)

    def step(state: list[Any]) -> list[Any]:
        source, target = state
        store(builder, entries_of(load(builder, source, kind)), target)
        return [builder.add(source, width), builder.add(target, width)]

    end, _ = repeat(builder, builder.sdiv(count, width), [codes, out], step, maybe_none=True)
    return builder.sub(end, codes)


def _by_halves(builder: Any, table: Any) -> LookUp:
    low, middle, high, end = (
        load(builder, builder.add(table, INT64(_WIDE.count * part)), _WIDE) for part in range(4)
    )

    def entries_of(codes: Any) -> Any:
        lower, upper = (
            call(builder, "llvm.x86.avx512.vpermi2var.qi.512", _WIDE, first, codes, second)
            for first, second in ((low, middle), (high, end))
        )
        return builder.select(builder.icmp_signed("<", codes, constants(_WIDE, 0)), upper, lower)

    return entries_of


def _by_rows(builder: Any, table: Any) -> LookUp:
    rows = []
    for row in range(_ROW):
        entries = load(builder, builder.add(table, INT64(_ROW * row)), _ENTRIES)
        rows.append(shuffled(builder, entries, entries, [*range(_ROW), *range(_ROW)]))

    def entries_of(codes: Any) -> Any:
        result = constants(_BYTES, 0)
        for entries in rows:
            place = call(builder, "llvm.uadd.sat.v32i8", _BYTES, codes, constants(_BYTES, _BEYOND))
            part = call(builder, "llvm.x86.avx2.pshuf.b", _BYTES, entries, place)
            result = builder.or_(result, part)
            codes = builder.sub(codes, constants(_BYTES, _ROW))
        return result

    return entries_of


_WIDTHS = (64, 32, 8, 1)
"""Channels per run, widest first; channels that remain are left to the next width."""


@emits(types.void, None, *[types.intp] * 5)
def largest_codes(
    builder: Any, x: Any, start: Any, taps: Any, step: Any, channels: Any, out: Any
) -> None:
    """Write the largest code of each of `channels` channels over `taps` taps, 0 if there is none.

    `x` is the array of codes, for its type; `start` and `out` are addresses, `step` is that from
    tap to tap in bytes.
    """
    element = ir.IntType(x.dtype.bitwidth)
    size = INT64(element.width // 8)
    done = INT64(0)
    for width in _WIDTHS:
        runs = builder.udiv(builder.sub(channels, done), INT64(width))
        with cgutils.for_range(builder, runs) as loop:
            channel = builder.add(done, builder.mul(loop.index, INT64(width)))
            offset = builder.mul(channel, size)
            places = (builder.add(address, offset) for address in (start, out))
            _run(builder, ir.VectorType(element, width), taps, step, *places)
        done = builder.add(done, builder.mul(runs, INT64(width)))


def _run(builder: Any, kind: Any, taps: Any, step: Any, start: Any, out: Any) -> None:
    def larger(state: list[Any]) -> list[Any]:
        place, best = state
        codes = builder.load(builder.inttoptr(place, kind.as_pointer()))
        codes.align = kind.element.width // 8
        best = builder.select(builder.icmp_unsigned(">", codes, best), codes, best)
        return [builder.add(place, step), best]

    _, best = repeat(builder, taps, [start, constants(kind, 0)], larger, maybe_none=True)
    builder.store(best, builder.inttoptr(out, kind.as_pointer())).align = kind.element.width // 8


@emits(types.int32, types.int32)
def bits_of_float(builder: Any, value: Any) -> Any:
    """Return the bits of the float32 nearest to an int32, as an int32."""
    return builder.bitcast(builder.sitofp(value, ir.FloatType()), ir.IntType(32))
