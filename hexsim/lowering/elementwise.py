"""Elementwise layers of two or more operands, broadcast as numpy does.

Sums, differences and products of two 8-bit operands: hexsim.lowering.pairs. Any others, and those
whose steps that arithmetic has no room for, are below.
Sum and difference: each operand is brought to the coarsest scale by a signed factor
k = round(delta / coarsest * 2^14), with 2^20 for 16-bit codes, negative if it is subtracted;
`coarsest` is the largest step of the operands and the output. acc = preload + sum of k * (x - zx),
requantised once, whatever the number of operands.
Product: acc = preload + product of (x - zx), at most three operands, because an int32 holds no
more; each operand of 16 bits adds eight fraction bits. A constant whose step is too small for the
accumulator is quantised again (hexsim.lowering.headroom).
Quotient: hexsim.lowering.quotient.
Maximum and minimum: 8-bit operands are rescaled with factors of 12 fraction bits, those of 16
bits as anywhere, and compared as codes.
"""

import math
from dataclasses import dataclass
from typing import Literal

from hexsim.errors import HexsimError
from hexsim.layers import Elementwise
from hexsim.lowering.headroom import fitting_factor, largest_distance
from hexsim.lowering.lowered_call import Codes, Int32, LoweredCall, Operand
from hexsim.lowering.pairs import (
    LoweredPairProduct,
    LoweredPairSum,
    are_pair,
    lower_pair_product,
    lower_pair_sum,
)
from hexsim.lowering.quotient import lower_quotient
from hexsim.lowering.requantize import Requantize, common_scale, requantize
from hexsim.lowering.rescale import compared_table
from hexsim.lowering.source import Lowerings, QuantizedSource
from hexsim.lowering.sums import requantize_sums

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
