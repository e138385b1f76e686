"""`hexsim.int8.requantise` on rows of a tile of sums, as vector LLVM IR.

Plain loops over so few elements spend more time on deciding how to run than on running. The IR
names no instruction of any CPU. 64-bit products are made of the even and the odd 32-bit lanes in
turn, which is how CPUs multiply to 64 bits; most layers have no shift and skip its saturation.
"""

from __future__ import annotations

from typing import Any

from llvmlite import ir
from numba.core import types
from numba.extending import intrinsic

from hexsim.int8.microkernel import COLUMNS

_I32, _I64 = ir.IntType(32), ir.IntType(64)
_CODES = ir.VectorType(ir.IntType(8), COLUMNS)
_SUMS = ir.VectorType(_I32, COLUMNS)
_HALVES = ir.VectorType(_I64, COLUMNS // 2)
_SUM_BYTES = 4


def _all(kind: Any, value: int) -> Any:
    return ir.Constant(kind, [value] * kind.count)


def _load(builder: Any, address: Any, kind: Any) -> Any:
    value = builder.load(builder.inttoptr(address, kind.as_pointer()))
    value.align = _SUM_BYTES
    return value


def _broadcast(builder: Any, scalar: Any) -> Any:
    empty = ir.Constant(_SUMS, ir.Undefined)
    first = builder.insert_element(empty, scalar, _I32(0))
    return builder.shuffle_vector(first, empty, _all(_SUMS, 0))


def _choose(builder: Any, comparison: str, x: Any, y: Any, chosen: Any, other: Any) -> Any:
    return builder.select(builder.icmp_signed(comparison, x, y), chosen, other)


@intrinsic  # type: ignore[untyped-decorator]
def requantise_rows(
    typing: Any, count: Any, sums: Any, sums_step: Any, addends: Any, preload: Any,
    multiplier: Any, shift: Any, shifts: Any, low: Any, high: Any, out: Any, out_step: Any,
) -> Any:  # fmt: skip
    """Store `count` (at least 1) rows of COLUMNS codes, `out_step` bytes apart, from address `out`.

    Rows of sums are `sums_step` bytes apart; `addends` holds one int32 for each, added to all its
    sums. `preload`, `multiplier` and `shift` are addresses of COLUMNS int32 each; `shifts` is not
    zero if any shift is. `low` and `high` are int32, all others intp.
    """
    word, size = types.int32, types.intp
    return types.void(*[size] * 8, word, word, size, size), _requantise_rows


def _requantise_rows(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
    shifts = arguments[7]
    with builder.if_else(builder.icmp_signed("!=", shifts, _I64(0))) as (shifted, plain):
        with shifted:
            _rows(builder, arguments, shifted=True)
        with plain:
            _rows(builder, arguments, shifted=False)
    return context.get_dummy_value()


def _rows(builder: Any, arguments: Any, *, shifted: bool) -> None:
    count, sums, sums_step, addends, preload, multiplier, shift, _, low, high, out, step = arguments
    entry, loop = builder.block, builder.append_basic_block("row")
    done = builder.append_basic_block("done")
    start, factor = _load(builder, preload, _SUMS), _load(builder, multiplier, _SUMS)
    bits = _load(builder, shift, _SUMS) if shifted else None
    limits = _broadcast(builder, low), _broadcast(builder, high)
    builder.branch(loop)

    builder.position_at_end(loop)
    row, row_sums, row_out = (builder.phi(_I64) for _ in range(3))
    addend = _load(builder, builder.add(addends, builder.shl(row, _I64(2))), _I32)
    total = builder.add(_load(builder, row_sums, _SUMS), start)
    total = builder.add(total, _broadcast(builder, addend))
    if bits is not None:
        total = _saturating_shift(builder, total, bits)
    code = _rounded_product(builder, total, factor)
    code = _choose(builder, "<", code, limits[0], limits[0], code)
    code = _choose(builder, ">", code, limits[1], limits[1], code)
    target = builder.inttoptr(row_out, _CODES.as_pointer())
    builder.store(builder.trunc(code, _CODES), target).align = 1
    following = (
        builder.add(row, _I64(1)), builder.add(row_sums, sums_step), builder.add(row_out, step)
    )  # fmt: skip
    for phi, first, later in zip(
        (row, row_sums, row_out), (_I64(0), sums, out), following, strict=True
    ):
        phi.add_incoming(first, entry)
        phi.add_incoming(later, loop)
    builder.cbranch(builder.icmp_signed("<", following[0], count), loop, done)
    builder.position_at_end(done)


def _saturating_shift(builder: Any, total: Any, bits: Any) -> Any:
    most, least = _all(_SUMS, 0x7FFFFFFF), _all(_SUMS, -0x80000000)
    shifted = builder.shl(total, bits)
    shifted = _choose(builder, ">", total, builder.ashr(most, bits), most, shifted)
    return _choose(builder, "<", total, builder.ashr(least, bits), least, shifted)


def _rounded_product(builder: Any, x: Any, y: Any) -> Any:
    """(x * y + 2^30) >> 31 of each lane, modulo 2^32."""
    word = _all(_HALVES, 32)
    pairs = [builder.bitcast(one, _HALVES) for one in (x, y)]
    even = builder.mul(*(builder.ashr(builder.shl(one, word), word) for one in pairs))
    odd = builder.mul(*(builder.ashr(one, word) for one in pairs))
    half = _all(_HALVES, 1 << 30)
    even = builder.lshr(builder.add(even, half), _all(_HALVES, 31))
    odd = builder.shl(builder.add(odd, half), _all(_HALVES, 1))
    lanes = [lane + (COLUMNS if lane % 2 else 0) for lane in range(COLUMNS)]
    return builder.shuffle_vector(
        builder.bitcast(even, _SUMS), builder.bitcast(odd, _SUMS), ir.Constant(_SUMS, lanes)
    )
