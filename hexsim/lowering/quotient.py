"""Quotient of two operands: one rounded division of integers.

    n, d = x - zx, w - zw
    code = clamp(zy + floor((2 * n * scale + d * 2^B) / (2 * d * 2^B)), low, high)

with the signs of n and d changed where d is negative, and
r = delta_x / (delta_w * delta_y), scale = round(r * 2^B), where B is what gives the scale 30 bits,
but in 0 .. 44. Where d is zero the answer is that of real numbers: zy for n = 0, else the largest
or smallest code.
"""

import math
from dataclasses import dataclass

from hexsim.errors import HexsimError
from hexsim.layers import Elementwise
from hexsim.lowering.lowered_call import LoweredCall, Operand
from hexsim.lowering.requantize import clamp_codes

_SCALE_BITS = 30
"""Bits of the scale: it is as exact as the multiplier of a requantise stage."""
_MOST_SHIFT = 44
"""A limit that lets 2 * d * 2^B fit an int64 for 16-bit codes. The scale of a ratio below 2^-14 has
fewer bits, but then the largest quotient is a few codes."""


@dataclass(frozen=True, kw_only=True, eq=False)
class LoweredQuotient(LoweredCall):
    """`scale` has `shift` fraction bits; codes are limited to `low` .. `high`."""

    scale: int
    shift: int
    low: int
    high: int


def lower_quotient(
    layer: Elementwise, inputs: tuple[Operand, ...], output: Operand
) -> LoweredQuotient:
    """Turn a division into integers; HexsimError unless there are two operands."""
    if len(inputs) != 2:
        raise HexsimError(f"layer '{layer.name}' divides {len(inputs)} operands; give it two")
    ratio = inputs[0].delta / (inputs[1].delta * output.delta)
    shift = min(max(_SCALE_BITS - math.frexp(ratio)[1], 0), _MOST_SHIFT)
    low, high = clamp_codes(layer.clamp, output.encoding)
    return LoweredQuotient(
        layer.name,
        inputs,
        output,
        scale=min(int(math.ldexp(ratio, shift) + 0.5), 1 << 31),
        shift=shift,
        low=low,
        high=high,
    )
