"""Sums of products with weights: what convolution, deconvolution and fully connected share.

acc = preload + sum of (x - zx) * (w - zw), requantised per channel. Weights whose step is too small
for the accumulator are quantised again (hexsim.lowering.headroom).
"""

from __future__ import annotations

from hexsim.layers import Weighted
from hexsim.lowering.headroom import fitting_weights
from hexsim.lowering.lowered_call import Operand
from hexsim.lowering.requantize import Requantize, requantize
from hexsim.lowering.source import QuantizedSource
from hexsim.lowering.weights import Weights, lower_weights


def lower_products(
    layer: Weighted, x: Operand, output: Operand, source: QuantizedSource
) -> tuple[Weights, Requantize]:
    """Return the weights that multiply `x`, and the constants of the sums, one per output channel.

    Raises HexsimError if no kernel takes the weights.
    """
    weights = lower_weights(layer.weight, layer, source)
    bias = None if layer.bias is None else source.real(layer.bias)
    fraction_bits = x.bits - 8 + weights.bits - 8
    weights = fitting_weights(weights, x, output.encoding, bias, fraction_bits)
    stage = requantize(
        x.delta * weights.steps,
        output.encoding,
        layer.clamp,
        bias,
        fraction_bits,
        one_shift=not fraction_bits,
    )
    return weights, stage
