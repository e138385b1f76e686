"""FullyConnected: the convolution's arithmetic on a flattened input."""

from __future__ import annotations

from dataclasses import dataclass

from hexsim.binding.call import BoundCall
from hexsim.binding.requantize import Requantize, requantize
from hexsim.binding.source import Binders, Source
from hexsim.binding.weights import Weights, bind_weights
from hexsim.layers import FullyConnected


@dataclass(frozen=True, kw_only=True, eq=False)
class BoundFullyConnected(BoundCall):
    """`weights.codes` is (inputs, outputs); `tail` has one entry per output."""

    weights: Weights
    tail: Requantize


def bind_fully_connected(layer: FullyConnected, source: Source) -> BoundFullyConnected:
    """Turn a fully connected layer into integers."""
    inputs, output = source.ends(layer)
    weights = bind_weights(layer.weight, layer, source)
    return BoundFullyConnected(
        layer=layer.name,
        inputs=inputs,
        output=output,
        weights=weights,
        tail=requantize(
            inputs[0].delta * weights.steps,
            output.encoding,
            layer.clamp,
            None if layer.bias is None else source.real(layer.bias),
            fraction_bits=inputs[0].bits - 8 + weights.bits - 8,
        ),
    )


BINDERS: Binders = {FullyConnected: bind_fully_connected}
