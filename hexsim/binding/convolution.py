"""Convolution: acc = preload + sum of (x - zx) * (w - zw), requantised per channel."""

from __future__ import annotations

from dataclasses import dataclass

from hexsim.binding.call import BoundCall, Operand
from hexsim.binding.requantize import Requantize, requantize
from hexsim.binding.source import Binders, Source
from hexsim.binding.weights import Weights, bind_weights
from hexsim.layers import Convolution, Weighted, Window


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
    weights = bind_weights(layer.weight, layer, source)
    return BoundConvolution(
        layer=layer.name,
        inputs=inputs,
        output=output,
        weights=weights,
        window=layer.window,
        groups=layer.groups,
        tail=requantize_products(layer, inputs[0], weights, output, source),
    )


def requantize_products(
    layer: Weighted, x: Operand, weights: Weights, output: Operand, source: Source
) -> Requantize:
    """Return the constants for sums of products of `x` and `weights`, one per output channel."""
    return requantize(
        x.delta * weights.steps,
        output.encoding,
        layer.clamp,
        None if layer.bias is None else source.real(layer.bias),
        fraction_bits=x.bits - 8 + weights.bits - 8,
    )


BINDERS: Binders = {Convolution: bind_convolution}
