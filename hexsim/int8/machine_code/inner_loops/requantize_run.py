"""Runs of sums to codes, 32 at a time.

Codes are not negative, so negative sums may become 0 first. Then the product with twice the
multiplier fits an unsigned 64-bit lane, and the rounded code is its upper half: lanes need neither
a signed shift nor a test for the sign. Floats are used where they give the same codes
(`inner_loops.float_rounding`). The IR names no instruction of any CPU.
"""

from collections.abc import Callable, Sequence
from typing import Any

from llvmlite import ir
from numba.core import cgutils, types
from numba.extending import intrinsic

from hexsim.int8.machine_code.features import has_fused_floats
from hexsim.int8.machine_code.inner_loops.float_rounding import FloatRounding
from hexsim.int8.machine_code.vector_ir import FLOAT, broadcast

WIDTH = 32
"""Codes per step: a vector of bytes of AVX2."""
_I8, _I32, _I64 = ir.IntType(8), ir.IntType(32), ir.IntType(64)
_CODES = ir.VectorType(_I8, WIDTH)
_SUMS = ir.VectorType(_I32, WIDTH)
_PAIRS = ir.VectorType(_I64, WIDTH // 2)


@intrinsic  # type: ignore[untyped-decorator]
def requantize_vectors(
    typing: Any, steps: Any, sums: Any, multiplier: Any, low: Any, high: Any, factor: Any,
    codes: Any,
) -> Any:  # fmt: skip
    """Write `steps` times WIDTH codes; `sums` and `codes` are addresses.

    `factor` holds the bits of the float to use instead of the multiplier, or is 0.
    """
    size, word = types.intp, types.int32
    return types.void(size, size, *[word] * 4, size), _generate


def _generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
    steps, sums, *constants, codes = arguments

    def total(at: Any) -> Any:
        return _load(builder, sums, builder.shl(at, _I64(2)), _SUMS)

    _each_step(builder, steps, total, constants, codes)
    return context.get_dummy_value()


@intrinsic  # type: ignore[untyped-decorator]
def requantize_sums_of_two(
    typing: Any, steps: Any, x: Any, y: Any, factor_x: Any, factor_y: Any, start: Any,
    multiplier: Any, low: Any, high: Any, factor: Any, codes: Any,
) -> Any:  # fmt: skip
    """Write the codes of start + factor_x * x + factor_y * y, x and y addresses of codes."""
    size, word = types.intp, types.int32
    return types.void(*[size] * 3, *[word] * 7, size), _generate_sum


def _generate_sum(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
    steps, x, y, *numbers, codes = arguments
    factor_x, factor_y, start = (_broadcast(builder, number, _SUMS) for number in numbers[:3])

    def total(at: Any) -> Any:
        parts = [start]
        for address, factor in ((x, factor_x), (y, factor_y)):
            operand = builder.zext(_load(builder, address, at, _CODES), _SUMS)
            parts.append(builder.mul(operand, factor))
        return builder.add(builder.add(parts[1], parts[2]), parts[0])

    _each_step(builder, steps, total, numbers[3:], codes)
    return context.get_dummy_value()


def _each_step(
    builder: Any, steps: Any, total: Callable[[Any], Any], constants: Sequence[Any], codes: Any
) -> None:
    """Write the codes of the sums that `total` returns for the position of each step."""
    multiplier, low, high, factor = constants

    def by_integers() -> Callable[[Any], Any]:
        twice = _broadcast(builder, builder.shl(multiplier, _I32(1)), _SUMS)
        even = _even(builder, builder.bitcast(twice, _PAIRS))
        limits = [_broadcast(builder, builder.trunc(limit, _I8), _CODES) for limit in (low, high)]

        def code(sums: Any) -> Any:
            code = _rounded(builder, _extreme(builder, "smax", sums, _all(_SUMS, 0)), even)
            code = _extreme(builder, "umin", code, _all(_SUMS, 255))
            code = _extreme(builder, "umax", builder.trunc(code, _CODES), limits[0])
            return _extreme(builder, "umin", code, limits[1])

        return code

    def by_floats() -> Callable[[Any], Any]:
        rounding = FloatRounding(builder, low, high, WIDTH)
        scale = broadcast(builder, builder.bitcast(factor, FLOAT), rounding.kind)
        return lambda sums: builder.trunc(rounding.code(sums, scale), _CODES)

    def loop(codes_of: Callable[[Any], Any]) -> None:
        with cgutils.for_range(builder, steps) as turn:
            at = builder.mul(turn.index, _I64(WIDTH))
            code = codes_of(total(at))
            builder.store(code, _at(builder, codes, at, _CODES)).align = 1

    if not has_fused_floats():
        loop(by_integers())
        return
    with builder.if_else(builder.icmp_signed("!=", factor, _I32(0))) as (then, otherwise):
        with then:
            loop(by_floats())
        with otherwise:
            loop(by_integers())


def _rounded(builder: Any, total: Any, factor: Any) -> Any:
    """Return (total * factor + 2^31) >> 32 of lanes that are not negative."""
    pairs = builder.bitcast(total, _PAIRS)
    half, word, upper = (_all(_PAIRS, value) for value in (1 << 31, 32, 0xFFFFFFFF << 32))
    even = builder.mul(_even(builder, pairs), factor)
    odd = builder.mul(builder.lshr(pairs, word), factor)
    even = builder.lshr(builder.add(even, half), word)
    odd = builder.and_(builder.add(odd, half), upper)
    return builder.bitcast(builder.or_(even, odd), _SUMS)


def _even(builder: Any, pairs: Any) -> Any:
    return builder.and_(pairs, _all(_PAIRS, 0xFFFFFFFF))


def _extreme(builder: Any, kind: str, x: Any, y: Any) -> Any:
    comparison = {"smax": ">", "umax": ">", "umin": "<"}[kind]
    compare = builder.icmp_signed if kind[0] == "s" else builder.icmp_unsigned
    return builder.select(compare(comparison, x, y), x, y)


def _all(kind: Any, value: int) -> Any:
    return ir.Constant(kind, [value] * kind.count)


def _broadcast(builder: Any, scalar: Any, kind: Any) -> Any:
    first = builder.insert_element(ir.Constant(kind, ir.Undefined), scalar, _I32(0))
    lanes = ir.VectorType(_I32, kind.count)
    return builder.shuffle_vector(first, first, _all(lanes, 0))


def _load(builder: Any, address: Any, offset: Any, kind: Any) -> Any:
    value = builder.load(_at(builder, address, offset, kind))
    value.align = kind.element.width // 8
    return value


def _at(builder: Any, address: Any, offset: Any, kind: Any) -> Any:
    return builder.inttoptr(builder.add(address, offset), kind.as_pointer())
