"""The sum of a run of codes, 32 at a time: their differences from zero, eight by eight."""

from functools import partial, reduce
from typing import Any

from llvmlite import ir
from numba.core import types
from numba.extending import intrinsic

from hexsim.int8.machine_code.vector_ir import BYTE, INT32, INT64, call, constants, load, repeat

_WIDTH = 32
"""Codes of a register."""
_CODES, _SUMS = ir.VectorType(BYTE, _WIDTH), ir.VectorType(INT64, _WIDTH // 8)


@intrinsic  # type: ignore[untyped-decorator]
def sum_of_codes(typing: Any, address: Any, count: Any) -> Any:
    """Return the sum of `count` codes at an address, all intp; needs AVX2."""
    return types.intp(types.intp, types.intp), _sum_of_codes


def _sum_of_codes(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
    address, count = arguments
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
