"""Sum, difference and product of two 8-bit operands, as Hexagon NN computes them.

`exponent(v)` is that of frexp: the least e with v < 2^e. Arithmetic has 16-bit factors, a rounding
or cut to 16 bits with some fraction bits, and one last rounding shift. Scales that leave no room
for this arithmetic, which the library refuses, have no such constants.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass

from hexsim.layers import Clamp
from hexsim.lowering.lowered_call import LoweredCall, Operand
from hexsim.lowering.requantize import clamp_codes

_MOST_FRACTION_BITS = 7
"""The most places that the last shift, of halfwords to bytes, goes."""
_SUM_BITS = 6
"""Fraction bits of a sum whose operands have steps just below that of the output."""
_ROOM_OF_SUMS = 16384 / 16380
"""Keeps a factor that is rounded up below 2^14."""


@dataclass(frozen=True, kw_only=True, eq=False)
class LoweredPairSum(LoweredCall):
    """sat16(((a * factors[0] + b * factors[1]) >> cut) + offset), rounded by `shift` bits."""

    factors: tuple[int, int]
    cut: int
    offset: int
    shift: int
    low: int
    high: int


@dataclass(frozen=True, kw_only=True, eq=False)
class LoweredPairProduct(LoweredCall):
    """With p = (a - z_a) * (b - z_b) - centre, sat16(((p * factor + 2^14) >> 15) + offset).

    That is rounded by `shift` bits.
    """

    centre: int
    factor: int
    offset: int
    shift: int
    low: int
    high: int


def are_pair(inputs: Sequence[Operand], output: Operand) -> bool:
    """Return whether these are two operands of 8 bits."""
    return len(inputs) == 2 and output.bits == 8 and all(x.bits == 8 for x in inputs)


def lower_pair_sum(
    name: str, inputs: tuple[Operand, ...], output: Operand, clamp: Clamp, subtract: bool
) -> LoweredPairSum | None:
    """Return the constants of a sum or difference; None if a step is 2^12 times the output's."""
    first, second = (x.delta / output.delta for x in inputs)
    reach = max(first, second) if subtract else first + second
    fraction_bits = min(_SUM_BITS - _exponent(reach * _ROOM_OF_SUMS), _MOST_FRACTION_BITS)
    cut, shift = 8, fraction_bits
    if fraction_bits <= 0:
        cut, shift = 7 + fraction_bits, 1
    if cut < 1:
        return None
    factors = (
        _round(math.ldexp(first, fraction_bits + 8)),
        _round(math.ldexp(second, fraction_bits + 8)) * (-1 if subtract else 1),
    )
    zeros = sum(k * x.zero_point for k, x in zip(factors, inputs, strict=True)) >> cut
    low, high = clamp_codes(clamp, output.encoding)
    return LoweredPairSum(
        name,
        inputs,
        output,
        factors=factors,
        cut=cut,
        offset=(output.zero_point << shift) - zeros,
        shift=shift,
        low=low,
        high=high,
    )


def lower_pair_product(
    name: str, inputs: tuple[Operand, ...], output: Operand, clamp: Clamp
) -> LoweredPairProduct | None:
    """Return the constants of a product; None if its step is half of the output's or more."""
    scale = inputs[0].delta * inputs[1].delta / output.delta
    shift = min(-_exponent(scale), _MOST_FRACTION_BITS)
    if shift < 1:
        return None
    factor = min(_round(math.ldexp(scale, shift + 15)), (1 << 15) - 1)
    middles = [2 * x.zero_point - 255 for x in inputs]
    centre = ((middles[0] * middles[1] + 256) >> 9) * 256
    low, high = clamp_codes(clamp, output.encoding)
    return LoweredPairProduct(
        name,
        inputs,
        output,
        centre=centre,
        factor=factor,
        offset=((centre * factor + (1 << 14)) >> 15) + (output.zero_point << shift),
        shift=shift,
        low=low,
        high=high,
    )


def _exponent(value: float) -> int:
    return math.frexp(value)[1]


def _round(value: float) -> int:
    return math.floor(value + 0.5)
