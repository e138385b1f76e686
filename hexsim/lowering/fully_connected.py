"""FullyConnected: the convolution's arithmetic on a flattened input."""

from __future__ import annotations

from dataclasses import dataclass

from hexsim.layers import FullyConnected
from hexsim.lowering.lowered_call import BoundCall
from hexsim.lowering.products import bind_products
from hexsim.lowering.requantize import Requantize
from hexsim.lowering.source import Binders, Source
from hexsim.lowering.weights import Weights


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
