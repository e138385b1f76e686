"""MatMul: products of codes with both zero points, int32 sums, one requantise stage.

  8 bits:  acc = preload + sum of (a - za) * (b - zb)     wraps modulo 2^32
  16 bits: A = preload + sum of (a - za) * (b - zb)       in 64 bits, sixteen of them fraction bits
  step = alpha * delta_a * delta_b

A constant whose step is too small for the accumulator is quantised again
(hexsim.lowering.headroom).
"""

import math
from dataclasses import dataclass

from hexsim.errors import HexsimError
from hexsim.layers import MatMul
from hexsim.lowering.headroom import fitting_factor, largest_distance
from hexsim.lowering.lowered_call import LoweredCall
from hexsim.lowering.requantize import Requantize
from hexsim.lowering.source import Lowerings, QuantizedSource
from hexsim.lowering.sums import requantize_sums


@dataclass(frozen=True, kw_only=True, eq=False)
class LoweredMatMul(LoweredCall):
    """`transposed` says that the second operand is stored by columns; `stage` has one entry."""

    transposed: bool
    stage: Requantize


def lower_mat_mul(layer: MatMul, source: QuantizedSource) -> LoweredMatMul:
    """Turn a product into integers; HexsimError for a factor that is not above zero."""
    _, inputs, output = source.operands(layer)
    if layer.alpha <= 0:
        raise HexsimError(
            f"layer '{layer.name}' multiplies its product by {layer.alpha:g}; the integer kernel "
            "takes factors above zero, run the layer on the cpu"
        )
    fraction_bits = sum(x.bits - 8 for x in inputs)
    factors = fitting_factor(
        inputs, inputs[0].shape[-1], layer.alpha, output.encoding, fraction_bits
    )
    return LoweredMatMul(
        layer.name,
        factors,
        output,
        transposed=layer.transposed,
        stage=requantize_sums(
            layer.name,
            layer.alpha * factors[0].delta * factors[1].delta,
            inputs[0].shape[-1] * math.prod(largest_distance(x) for x in factors),
            output.encoding,
            layer.clamp,
            fraction_bits,
        ),
    )


LOWERINGS: Lowerings = {MatMul: lower_mat_mul}
