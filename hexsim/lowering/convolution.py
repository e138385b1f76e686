"""Convolution: acc = preload + sum of (x - zx) * (w - zw), requantised per channel."""

from __future__ import annotations

from dataclasses import dataclass

from hexsim.layers import Convolution, Window
from hexsim.lowering.lowered_call import LoweredCall
from hexsim.lowering.products import lower_products
from hexsim.lowering.requantize import Requantize
from hexsim.lowering.source import Lowerings, QuantizedSource
from hexsim.lowering.weights import Weights


@dataclass(frozen=True, kw_only=True, eq=False)
class LoweredConvolution(LoweredCall):
    """A dense, grouped or depthwise convolution; padding counts as real zero.

    `weights.codes` is (kernel height, kernel width, input channels / groups, output channels);
    `stage` has one entry per output channel.
    """

    weights: Weights
    window: Window
    groups: int
    stage: Requantize


def lower_convolution(layer: Convolution, source: QuantizedSource) -> LoweredConvolution:
    """Turn a convolution into integers."""
    inputs, output = source.operands(layer)
    weights, stage = lower_products(layer, inputs[0], output, source)
    return LoweredConvolution(
        layer=layer.name,
        inputs=inputs,
        output=output,
        weights=weights,
        window=layer.window,
        groups=layer.groups,
        stage=stage,
    )


LOWERINGS: Lowerings = {Convolution: lower_convolution}
