"""Convolution: acc = preload + sum of (x - zx) * (w - zw), requantised per channel."""

from __future__ import annotations

from dataclasses import dataclass

from hexsim.layers import Convolution, Window
from hexsim.lowering.lowered_call import BoundCall
from hexsim.lowering.products import bind_products
from hexsim.lowering.requantize import Requantize
from hexsim.lowering.source import Binders, Source
from hexsim.lowering.weights import Weights


@dataclass(frozen=True, kw_only=True, eq=False)
class BoundConvolution(BoundCall):
    """Dense, grouped or depthwise; padding counts as real zero.

    `weights.codes` is (kernel height, kernel width, input channels / groups, output channels);
    `tail` has one entry per output channel.
    """

    weights: Weights
    window: Window
    groups: int
    tail: Requantize


def bind_convolution(layer: Convolution, source: Source) -> BoundConvolution:
    """Turn a convolution into integers."""
    inputs, output = source.ends(layer)
    weights, tail = bind_products(layer, inputs[0], output, source)
    return BoundConvolution(
        layer=layer.name,
        inputs=inputs,
        output=output,
        weights=weights,
        window=layer.window,
        groups=layer.groups,
        tail=tail,
    )


BINDERS: Binders = {Convolution: bind_convolution}
