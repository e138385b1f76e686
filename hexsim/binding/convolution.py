"""Convolution: acc = preload + sum of (x - zx) * (w - zw), requantised per channel."""

from __future__ import annotations

from dataclasses import dataclass

from hexsim.binding.call import BoundCall
from hexsim.binding.products import bind_products
from hexsim.binding.requantize import Requantize
from hexsim.binding.source import Binders, Source
from hexsim.binding.weights import Weights
from hexsim.layers import Convolution, Window


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
