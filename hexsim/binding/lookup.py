"""Neuron and Prelu: a function of one code is a table of all codes, 256 or 65536.

The table is the function evaluated in float64 on the real values of the input's codes and coded
with the output's encoding, so it is the best answer of that width there is.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from hexsim.binding.call import BoundCall, Codes, Operand, Real
from hexsim.binding.source import Binders, Source
from hexsim.layers import Neuron, Prelu
from hexsim.layers.neuron import NeuronFunction


@dataclass(frozen=True, kw_only=True, eq=False)
class BoundLookup(BoundCall):
    """`tables` is (1, codes), or (channels, codes) along the last stored axis."""

    tables: Codes


def bind_neuron(layer: Neuron, source: Source) -> BoundLookup:
    """Turn an activation function into a table."""
    inputs, output = source.ends(layer)
    values = FUNCTIONS[layer.function](_reals(inputs[0]), layer)
    tables = output.encoding.quantize(values).astype(output.encoding.dtype).reshape(1, -1)
    return BoundLookup(layer=layer.name, inputs=inputs, output=output, tables=tables)


def bind_prelu(layer: Prelu, source: Source) -> BoundLookup:
    """Turn a Prelu into one table per channel."""
    inputs, output = source.ends(layer)
    x = _reals(inputs[0])
    slope = np.broadcast_to(source.real(layer.slope).reshape(-1, 1), (inputs[0].shape[-1], 1))
    values = np.where(x >= 0, x, slope * x)
    tables = output.encoding.quantize(values).astype(output.encoding.dtype)
    return BoundLookup(layer=layer.name, inputs=inputs, output=output, tables=tables)


def _reals(operand: Operand) -> Real:
    return (
        np.arange(operand.encoding.steps + 1, dtype=np.float64) - operand.zero_point
    ) * operand.delta


FUNCTIONS: dict[NeuronFunction, Callable[[Real, Neuron], Real]] = {
    "clamp": lambda x, n: np.clip(x, n.clamp.low, n.clamp.high),
    "leaky_relu": lambda x, n: np.where(x >= 0, x, n.alpha * x),
    "sigmoid": lambda x, n: 1 / (1 + np.exp(-np.clip(x, -700, 700))),
    "tanh": lambda x, n: np.tanh(x),
    "elu": lambda x, n: np.where(x >= 0, x, n.alpha * np.expm1(np.minimum(x, 0))),
    "hard_sigmoid": lambda x, n: np.clip(n.alpha * x + n.beta, 0, 1),
    "hard_swish": lambda x, n: x * np.clip(x / 6 + 0.5, 0, 1),
}


BINDERS: Binders = {Neuron: bind_neuron, Prelu: bind_prelu}
