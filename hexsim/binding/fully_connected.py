"""FullyConnected: the convolution's arithmetic on a flattened input."""

from __future__ import annotations

from dataclasses import dataclass

from hexsim.binding.call import BoundCall
from hexsim.binding.products import bind_products
from hexsim.binding.requantize import Requantize
from hexsim.binding.source import Binders, Source
from hexsim.binding.weights import Weights
from hexsim.layers import FullyConnected


@dataclass(frozen=True, kw_only=True, eq=False)
class BoundFullyConnected(BoundCall):
    """`weights.codes` is (inputs, outputs); `tail` has one entry per output."""

    weights: Weights
    tail: Requantize


def bind_fully_connected(layer: FullyConnected, source: Source) -> BoundFullyConnected:
    """Turn a fully connected layer into integers."""
    inputs, output = source.ends(layer)
    weights, tail = bind_products(layer, inputs[0], output, source)
    return BoundFullyConnected(
        layer=layer.name,
        inputs=inputs,
        output=output,
        weights=weights,
        tail=tail,
    )


BINDERS: Binders = {FullyConnected: bind_fully_connected}
