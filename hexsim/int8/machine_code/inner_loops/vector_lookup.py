"""A table of 256 codes looked up 32 at a time, as LLVM IR for AVX2.

`vpshufb` looks up 16 entries and gives 0 where the index has its top bit set. So the table is 16
rows of 16, each row is looked up for all codes, moved down by the row's first code and up to 0x70
with saturation, which sets the top bit of all that lie in other rows; the results are or'ed.
"""

from __future__ import annotations

from typing import Any

from llvmlite import ir
from numba.core import types
from numba.extending import intrinsic

WIDTH = 32
"""Codes per step."""

_ROW = 16
_I64 = ir.IntType(64)
_BYTES = ir.VectorType(ir.IntType(8), WIDTH)
_ENTRIES = ir.VectorType(ir.IntType(8), _ROW)
_TOP = 0x70


def _all(value: int) -> Any:
    return ir.Constant(_BYTES, [value] * WIDTH)


def _at(builder: Any, address: Any, kind: Any) -> Any:
    return builder.inttoptr(address, kind.as_pointer())


def _call(builder: Any, name: str, x: Any, y: Any) -> Any:
    known = builder.module.globals.get(name)
    kind = ir.FunctionType(_BYTES, [_BYTES, _BYTES])
    return builder.call(known or ir.Function(builder.module, kind, name), [x, y])


@intrinsic  # type: ignore[untyped-decorator]
def look_up_codes(typing: Any, count: Any, codes: Any, table: Any, out: Any) -> Any:
    """Write the entries of `count` times WIDTH codes; all intp, all but the count addresses.

    `codes` and `out` may be the same.
    """
    return types.void(*[types.intp] * 4), _look_up_codes


def _look_up_codes(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
    count, codes, table, out = arguments
    rows = []
    twice = ir.Constant(ir.VectorType(ir.IntType(32), WIDTH), [*range(_ROW), *range(_ROW)])
    for row in range(_ROW):
        entries = builder.load(_at(builder, builder.add(table, _I64(_ROW * row)), _ENTRIES))
        entries.align = 1
        rows.append(builder.shuffle_vector(entries, entries, twice))
    entry, loop = builder.block, builder.append_basic_block("codes")
    done = builder.append_basic_block("done")
    builder.cbranch(builder.icmp_signed(">", count, _I64(0)), loop, done)

    builder.position_at_end(loop)
    step = builder.phi(_I64)
    offset = builder.mul(step, _I64(WIDTH))
    index = builder.load(_at(builder, builder.add(codes, offset), _BYTES))
    index.align = 1
    found = _all(0)
    for entries in rows:
        place = _call(builder, "llvm.uadd.sat.v32i8", index, _all(_TOP))
        part = _call(builder, "llvm.x86.avx2.pshuf.b", entries, place)
        found = builder.or_(found, part)
        index = builder.sub(index, _all(_ROW))
    builder.store(found, _at(builder, builder.add(out, offset), _BYTES)).align = 1
    following = builder.add(step, _I64(1))
    step.add_incoming(_I64(0), entry)
    step.add_incoming(following, loop)
    builder.cbranch(builder.icmp_signed("<", following, count), loop, done)

    builder.position_at_end(done)
    return context.get_dummy_value()
