"""Convolution, deconvolution, fully connected layers and MatMul: sums of products.

The sums of a layer with weights are requantised per channel, those of a MatMul by one stage
(docs/reference/arithmetic.md). Weights, or a constant operand, whose step is too small for the
accumulator are quantised again (hexsim.lowering.headroom).
"""

import math

from hexsim.errors import HexsimError
from hexsim.layers import (
    Convolution,
    Deconvolution,
    FullyConnected,
    MatMul,
    Phases,
    Weighted,
    Window,
)
from hexsim.lowering.headroom import (
    fitting_factor,
    fitting_weights,
    largest_distance,
    requantize_sums,
)
from hexsim.lowering.lowered_call import LoweredCall, Operand
from hexsim.lowering.requantize import Requantize, requantize
from hexsim.lowering.source import Lowerings, QuantizedSource, Weights, lower_weights
from hexsim.records import dataclass


@dataclass(frozen=True, kw_only=True, eq=False)
class _LoweredProducts(LoweredCall):
    """Sums of products with `weights`; `stage` has one entry per output channel."""

    weights: Weights
    stage: Requantize


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


@dataclass(frozen=True, kw_only=True, eq=False)
class LoweredConvolution(_LoweredProducts):
    """A dense, grouped or depthwise convolution; padding counts as real zero.

    `weights.codes` is (kernel height, kernel width, input channels / groups, output channels).
    """

    window: Window
    groups: int


def lower_convolution(layer: Convolution, source: QuantizedSource) -> LoweredConvolution:
    """Turn a convolution into integers."""
    call = source.operands(layer)
    weights, stage = lower_products(layer, call.inputs[0], call.output, source)
    return LoweredConvolution(
        *call, weights=weights, window=layer.window, groups=layer.groups, stage=stage
    )


@dataclass(frozen=True, kw_only=True, eq=False)
class LoweredDeconvolution(_LoweredProducts):
    """A dense, grouped or depthwise deconvolution; `weights` are as for a convolution.

    Input pixel i reaches the output pixels i * stride + tap * dilation - pad that exist. `phases`
    is the convolution that adds the same products.
    """

    window: Window
    groups: int
    phases: Phases


def lower_deconvolution(layer: Deconvolution, source: QuantizedSource) -> LoweredDeconvolution:
    """Turn a deconvolution into integers."""
    call = source.operands(layer)
    weights, stage = lower_products(layer, call.inputs[0], call.output, source)
    return LoweredDeconvolution(
        *call,
        weights=weights,
        window=layer.window,
        groups=layer.groups,
        phases=layer.phases(*call.inputs[0].shape[1:3]),
        stage=stage,
    )


@dataclass(frozen=True, kw_only=True, eq=False)
class LoweredFullyConnected(_LoweredProducts):
    """`weights.codes` is (inputs, outputs)."""


def lower_fully_connected(layer: FullyConnected, source: QuantizedSource) -> LoweredFullyConnected:
    """Turn a fully connected layer into integers."""
    call = source.operands(layer)
    weights, stage = lower_products(layer, call.inputs[0], call.output, source)
    return LoweredFullyConnected(*call, weights=weights, stage=stage)


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


LOWERINGS: Lowerings = {
    Convolution: lower_convolution,
    Deconvolution: lower_deconvolution,
    FullyConnected: lower_fully_connected,
    MatMul: lower_mat_mul,
}
