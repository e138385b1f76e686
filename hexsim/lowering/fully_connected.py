"""FullyConnected: the convolution's arithmetic on a flattened input."""

from __future__ import annotations

from dataclasses import dataclass

from hexsim.layers import FullyConnected
from hexsim.lowering.lowered_call import LoweredCall
from hexsim.lowering.products import lower_products
from hexsim.lowering.requantize import Requantize
from hexsim.lowering.source import Lowerings, QuantizedSource
from hexsim.lowering.weights import Weights


@dataclass(frozen=True, kw_only=True, eq=False)
class LoweredFullyConnected(LoweredCall):
    """`weights.codes` is (inputs, outputs); `stage` has one entry per output."""

    weights: Weights
    stage: Requantize


def lower_fully_connected(layer: FullyConnected, source: QuantizedSource) -> LoweredFullyConnected:
    """Turn a fully connected layer into integers."""
    inputs, output = source.operands(layer)
    weights, stage = lower_products(layer, inputs[0], output, source)
    return LoweredFullyConnected(
        layer=layer.name,
        inputs=inputs,
        output=output,
        weights=weights,
        stage=stage,
    )


LOWERINGS: Lowerings = {FullyConnected: lower_fully_connected}
