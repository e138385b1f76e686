"""Finds functions of one number that ONNX files spell in several operators.

A pattern is known by what it computes, not by how it is spelled: x * Sigmoid(x), and a Clip of
x + 3 divided by 6 and multiplied by x, need no list of their variants.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Mapping
from functools import partial

import numpy as np

from hexsim.graph.ir import Layer, Network
from hexsim.layers import Clamp, Neuron
from hexsim.layers.neuron import NeuronFunction
from hexsim.passes._pattern import (
    Pattern,
    Real,
    computed,
    number_by_number,
    positions,
    readings,
)
from hexsim.passes._rewriter import Rewriter

Function = Callable[[Real], Real]

_MOST_LAYERS = 12
"""A function is spelled in no more (GELU by its tanh takes eight)."""
_NEAR = np.concatenate([np.linspace(-12.3, 12.1, 123), [0, -207, -61, -33, 33, 61, 207]])
_FAR = np.array([-1e6, -1e4, -1e3, 1e3, 1e4, 1e6])
_RELATIVE, _ABSOLUTE = 1e-5, 1e-6
"""What constants that a file holds in single may change."""


def find_functions(network: Network) -> Network:
    """Replace layers that together are a known function of one tensor by one Neuron.

    1. Functions of one number, and sums, products, differences, maxima and minima with constants
       of one number or with each other, are such layers, if nobody else reads the tensors between
       them.
    2. They are a function of our own if both agree, to the rounding of single constants, from
       -207 to 207, and at a thousand to a million wherever the layers do not overflow. Where both
       have no result, they need not; a function whose attributes are no numbers is none.
    3. Of several layers that could be first, the one with most layers behind it counts.
    4. The Neuron takes the name of the first.
    """
    rewriter = Rewriter(network)
    position = positions(network)
    for layer in network.layers:
        rewriter.keep(layer)
        found = max(
            _candidates(layer, rewriter, position),
            key=lambda one: len(one[0].layers),
            default=None,
        )
        if found is None:
            continue
        spelled, neuron = found
        spelled.replaced_by(neuron, rewriter)
    return rewriter.finish()


def _candidates(
    layer: Layer, rewriter: Rewriter, position: Mapping[str, int]
) -> Iterator[tuple[Pattern, Neuron]]:
    """All ways to read `layer` as the end of a known function."""
    for spelled in readings(layer, rewriter, position, number_by_number, _MOST_LAYERS):
        if len(spelled.layers) == 1 and isinstance(layer, Neuron):
            continue
        known = _known(partial(spelled, computed=computed))
        if known is not None:
            yield spelled, known


def _known(function: Function) -> Neuron | None:
    """The function of ours that `function` is."""
    near, far = function(_NEAR), function(_FAR)
    for name, fit in _FITS.items():
        neuron = fit(name, function)
        if neuron is None or not np.isfinite((neuron.alpha, neuron.beta)).all():
            continue
        if not _agree(neuron.values(_NEAR), near):
            continue
        there = np.isfinite(far)
        if not there.any() or _agree(neuron.values(_FAR)[there], far[there]):
            return neuron
    return None


def _agree(one: Real, other: Real) -> bool:
    """Where neither is a number (a root of what is negative) they agree about nothing."""
    known = ~(np.isnan(one) & np.isnan(other))
    return bool(known.any()) and np.allclose(one[known], other[known], _RELATIVE, _ABSOLUTE)


def _neuron(function: NeuronFunction, alpha: float = 0.0, beta: float = 0.0) -> Neuron:
    return Neuron(name="", inputs=(), outputs=(), function=function, alpha=alpha, beta=beta)


def _plain(name: NeuronFunction, function: Function) -> Neuron | None:
    return _neuron(name)


def _clamp(name: NeuronFunction, function: Function) -> Neuron | None:
    """Bounds are what a clamp makes of very large numbers."""
    reach = 1e30
    low, high = (float(one) for one in function(np.array([-reach, reach])))
    clamp = Clamp(-math.inf if low <= -reach else low, math.inf if high >= reach else high)
    if math.isnan(low) or math.isnan(high) or not clamp.limits:
        return None
    return _neuron(name).replace(clamp=clamp)


def _silu(name: NeuronFunction, function: Function) -> Neuron | None:
    """Of x = 1 it is the sigmoid of alpha, which is not zero: half of x is a product."""
    share = _at(function, 1.0)
    return (
        _neuron(name, _tidy(math.log(share / (1 - share))))
        if 0 < share < 1 and share != 0.5
        else None
    )


def _hard_sigmoid(name: NeuronFunction, function: Function) -> Neuron | None:
    """A slope around zero, where it is beta."""
    beta, step = _at(function, 0.0), 1e-3
    slope = (_at(function, step) - _at(function, -step)) / (2 * step)
    if not 0 < beta < 1 or not slope > 0:
        return None
    return _neuron(name, _tidy(slope), _tidy(beta))


def _leaky_relu(name: NeuronFunction, function: Function) -> Neuron | None:
    slope = -_at(function, -1.0)
    return _neuron(name, _tidy(slope)) if slope > 0 and slope != 1 else None


def _elu(name: NeuronFunction, function: Function) -> Neuron | None:
    return _neuron(name, _tidy(_at(function, -1.0) / math.expm1(-1.0)))


def _at(function: Function, x: float) -> float:
    return float(function(np.array([x]))[0])


def _tidy(number: float) -> float:
    """The number without the last digits, which are those of its fit."""
    return float(f"{number:.9g}")


_FITS: Mapping[NeuronFunction, Callable[[NeuronFunction, Function], Neuron | None]] = {
    "clamp": _clamp,
    "sigmoid": _plain,
    "tanh": _plain,
    "hard_sigmoid": _hard_sigmoid,
    "hard_swish": _plain,
    "silu": _silu,
    "mish": _plain,
    "gelu": _plain,
    "gelu_tanh": _plain,
    "softplus": _plain,
    "softsign": _plain,
    "leaky_relu": _leaky_relu,
    "elu": _elu,
    "abs": _plain,
    "square": _plain,
    "rsqrt": _plain,
}
"""What is looked for, and how its attributes are found."""
