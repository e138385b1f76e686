"""`hexsim.int8.requantise` on one row of the micro-kernel's tile, as vector LLVM IR.

Plain loops over so few elements spend more time on deciding how to run than on running. The IR
names no instruction of any CPU.
"""

from __future__ import annotations

from typing import Any

from llvmlite import ir
from numba.core import types
from numba.extending import intrinsic

from hexsim.int8.microkernel import COLUMNS

_I32, _I64 = ir.IntType(32), ir.IntType(64)
_CODES = ir.VectorType(ir.IntType(8), COLUMNS)
_NARROW = ir.VectorType(_I32, COLUMNS)
_WIDE = ir.VectorType(_I64, COLUMNS)


def _all(kind: Any, value: int) -> Any:
    return ir.Constant(kind, [value] * COLUMNS)


def _load(builder: Any, address: Any) -> Any:
    value = builder.load(builder.inttoptr(address, _NARROW.as_pointer()))
    value.align = 4
    return value


def _broadcast(builder: Any, scalar: Any) -> Any:
    empty = ir.Constant(_NARROW, ir.Undefined)
    first = builder.insert_element(empty, scalar, _I32(0))
    return builder.shuffle_vector(first, empty, _all(_NARROW, 0))


def _choose(builder: Any, comparison: str, x: Any, y: Any, chosen: Any, other: Any) -> Any:
    return builder.select(builder.icmp_signed(comparison, x, y), chosen, other)


@intrinsic  # type: ignore[untyped-decorator]
def requantise_row(
    typing: Any,
    sums: Any,
    addend: Any,
    preload: Any,
    multiplier: Any,
    shift: Any,
    low: Any,
    high: Any,
    out: Any,
) -> Any:
    """Store COLUMNS codes at address `out`.

    `sums`, `preload`, `multiplier` and `shift` are intp addresses of COLUMNS int32 each; `addend`
    (added to every sum), `low` and `high` are int32.
    """
    word, address = types.int32, types.intp
    signature = types.void(address, word, address, address, address, word, word, address)
    return signature, _requantise_row


def _requantise_row(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
    sums, addend, preload, multiplier, shift, low, high, out = arguments
    total = builder.add(_load(builder, sums), _load(builder, preload))
    total = builder.add(total, _broadcast(builder, addend))
    bits = _load(builder, shift)
    most, least = _all(_NARROW, 0x7FFFFFFF), _all(_NARROW, -0x80000000)
    shifted = builder.shl(total, bits)
    shifted = _choose(builder, ">", total, builder.ashr(most, bits), most, shifted)
    shifted = _choose(builder, "<", total, builder.ashr(least, bits), least, shifted)
    product = builder.mul(
        builder.sext(shifted, _WIDE), builder.sext(_load(builder, multiplier), _WIDE)
    )
    rounded = builder.lshr(builder.add(product, _all(_WIDE, 1 << 30)), _all(_WIDE, 31))
    code = builder.trunc(rounded, _NARROW)
    limit = _broadcast(builder, low)
    code = _choose(builder, "<", code, limit, limit, code)
    limit = _broadcast(builder, high)
    code = _choose(builder, ">", code, limit, limit, code)
    address = builder.inttoptr(out, _CODES.as_pointer())
    builder.store(builder.trunc(code, _CODES), address).align = 1
    return context.get_dummy_value()
