"""Deconvolution: acc = preload + sum of (x - zx) * (w - zw) over the windows that reach a pixel."""

from __future__ import annotations

from dataclasses import dataclass

from hexsim.layers import Deconvolution, Phases, Window
from hexsim.lowering.lowered_call import LoweredCall
from hexsim.lowering.products import lower_products
from hexsim.lowering.requantize import Requantize
from hexsim.lowering.source import Lowerings, QuantizedSource
from hexsim.lowering.weights import Weights


@dataclass(frozen=True, kw_only=True, eq=False)
class LoweredDeconvolution(LoweredCall):
    """A dense, grouped or depthwise deconvolution; `weights` and `stage` are as for a convolution.

    Input pixel i reaches the output pixels i * stride + tap * dilation - pad that exist. `phases`
    is the convolution that adds the same products.
    """

    weights: Weights
    window: Window
    groups: int
    phases: Phases
    stage: Requantize


def lower_deconvolution(layer: Deconvolution, source: QuantizedSource) -> LoweredDeconvolution:
    """Turn a deconvolution into integers."""
    inputs, output = source.operands(layer)
    weights, stage = lower_products(layer, inputs[0], output, source)
    return LoweredDeconvolution(
        layer=layer.name,
        inputs=inputs,
        output=output,
        weights=weights,
        window=layer.window,
        groups=layer.groups,
        phases=layer.phases(*inputs[0].shape[1:3]),
        stage=stage,
    )


LOWERINGS: Lowerings = {Deconvolution: lower_deconvolution}
