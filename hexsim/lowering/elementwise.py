"""Elementwise layers of two or more operands, broadcast as numpy does.

The rules are those of docs/reference/arithmetic.md. Two 8-bit operands are added, subtracted and
multiplied as Hexagon NN does, unless their scales leave no room for its arithmetic, which the
library refuses; any other sum or product is requantised once. A constant whose step is too small
for the accumulator is quantised again (hexsim.lowering.headroom).
"""

import math
from collections.abc import Sequence
from typing import Literal

from hexsim.errors import HexsimError
from hexsim.layers import Clamp, Elementwise
from hexsim.lowering.headroom import fitting_factor, largest_distance, requantize_sums
from hexsim.lowering.lowered_call import Codes, Int32, LoweredCall, Operand
from hexsim.lowering.requantize import (
    Requantize,
    clamp_codes,
    common_scale,
    compared_table,
    requantize,
)
from hexsim.lowering.source import Lowerings, QuantizedSource
from hexsim.records import dataclass

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


_MOST_FACTORS = 3
"""The most factors whose product an int32 holds: 255^3 < 2^31 <= 255^4."""


@dataclass(frozen=True, kw_only=True, eq=False)
class LoweredSum(LoweredCall):
    """`factors` has one signed value per operand; `stage` has one entry."""

    factors: Int32
    stage: Requantize


@dataclass(frozen=True, kw_only=True, eq=False)
class LoweredProduct(LoweredCall):
    """`stage` has one entry."""

    stage: Requantize


@dataclass(frozen=True, kw_only=True, eq=False)
class LoweredExtremum(LoweredCall):
    """`tables` rescale the operands; an entry is None if the codes do not change."""

    kind: Literal["max", "min"]
    tables: tuple[Codes | None, ...]


def lower_elementwise(layer: Elementwise, source: QuantizedSource) -> LoweredCall:
    """Turn an elementwise layer into integers; HexsimError for a product of more than three."""
    call = source.operands(layer)
    _, inputs, output = call
    if layer.kind == "div":
        return lower_quotient(layer, inputs, output)
    if layer.kind == "max" or layer.kind == "min":
        return LoweredExtremum(
            *call,
            kind=layer.kind,
            tables=tuple(compared_table(x, output.encoding, layer.clamp) for x in inputs),
        )
    if are_pair(inputs, output):
        pair = _lower_pair(layer, inputs, output)
        if pair is not None:
            return pair
    if layer.kind == "product":
        if len(inputs) > _MOST_FACTORS:
            raise HexsimError(
                f"layer '{layer.name}' multiplies {len(inputs)} operands; the integer kernel "
                f"takes {_MOST_FACTORS} at most, so split it into several products"
            )
        return _lower_product(layer, inputs, output)
    factors, step = common_scale([x.delta for x in inputs], output.encoding, output.bits)
    if layer.kind == "sub":
        factors[1:] *= -1
    return LoweredSum(
        *call,
        factors=factors,
        stage=requantize(step, output.encoding, layer.clamp, fraction_bits=output.bits - 8),
    )


def _lower_pair(
    layer: Elementwise, inputs: tuple[Operand, ...], output: Operand
) -> LoweredPairSum | LoweredPairProduct | None:
    if layer.kind == "product":
        return lower_pair_product(layer.name, inputs, output, layer.clamp)
    return lower_pair_sum(layer.name, inputs, output, layer.clamp, layer.kind == "sub")


def _lower_product(
    layer: Elementwise, inputs: tuple[Operand, ...], output: Operand
) -> LoweredProduct:
    fraction_bits = sum(x.bits - 8 for x in inputs)
    inputs = fitting_factor(inputs, 1, 1.0, output.encoding, fraction_bits)
    step = math.prod(x.delta for x in inputs)
    return LoweredProduct(
        layer.name,
        inputs,
        output,
        stage=requantize_sums(
            layer.name,
            step,
            math.prod(largest_distance(x) for x in inputs),
            output.encoding,
            layer.clamp,
            fraction_bits,
        ),
    )


LOWERINGS: Lowerings = {Elementwise: lower_elementwise}
