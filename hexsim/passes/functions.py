"""Finds element-wise functions that ONNX files write as several operators.

A pattern is recognised by its values, not by its operators: x * Sigmoid(x), and a Clip of x + 3
divided by 6 and multiplied by x, need no list of their variants.

Writes out functions that a release of the runtime does not know as one layer.

Fuses Relu, Relu6 and Clip into the layer before them.
"""

import math
from collections.abc import Callable, Collection, Iterator, Mapping
from dataclasses import replace
from functools import partial

import numpy as np

from hexsim.graph.ir import Layer, Network, Tensor
from hexsim.layers import Clamp, Elementwise, Neuron
from hexsim.layers.elementwise import NeuronFunction
from hexsim.passes._rewriter import (
    Pattern,
    Real,
    Rewriter,
    absorbed,
    computed,
    names_of,
    number_by_number,
    positions,
    readings,
)
from hexsim.texts.text import new_name

Function = Callable[[Real], Real]

_MOST_LAYERS = 12
"""The most layers of a function (GELU with tanh takes eight)."""
_SMALL = np.logspace(-13, -1.5, 47)
_NEAR = np.concatenate(
    [np.linspace(-12.3, 12.1, 123), [0, -207, -61, -33, 33, 61, 207], _SMALL, -_SMALL]
)
_FAR = np.array([-1e6, -1e4, -1e3, 1e3, 1e4, 1e6])
_RELATIVE = 1e-5
"""Tolerance of values, for constants that a file stores in float32."""
_ROUNDING = 1e-15
"""What is lost where numbers of the size of x, or of one, cancel in float64. Any larger tolerance
would hide a small constant: the epsilon of a norm, or the least argument of a logarithm."""


def find_functions(network: Network) -> Network:
    """Replace layers that together are a known function of one tensor by one Neuron.

    1. These layers are element-wise functions, and sums, products, differences, maxima and minima
       with scalar constants or with each other, if no other layer reads the tensors between them.
    2. They match a known function if both agree, up to the rounding of float32 constants, from -207
       to 207, at zero and beside it from 1e-13 on, so that no small constant is lost, and at a
       thousand to a million unless the layers overflow. Inputs for which both give
       NaN are ignored; a function whose attributes are not finite is refused.
    3. Of several possible first layers, the one that gives the longest pattern counts.
    4. The Neuron takes the name of the first layer.
    """
    rewriter = Rewriter(network)
    position = positions(network)
    for layer in network.layers:
        rewriter.keep(layer)
        longest = max(
            _candidates(layer, rewriter, position),
            key=lambda candidate: len(candidate[0].layers),
            default=None,
        )
        if longest is None:
            continue
        pattern, neuron = longest
        pattern.replaced_by(neuron, rewriter)
    return rewriter.finish()


def _candidates(
    layer: Layer, rewriter: Rewriter, position: Mapping[str, int]
) -> Iterator[tuple[Pattern, Neuron]]:
    """Yield all patterns that end in `layer` and compute a known function."""
    for pattern in readings(layer, rewriter, position, number_by_number, _MOST_LAYERS):
        if len(pattern.layers) == 1 and isinstance(layer, Neuron):
            continue
        neuron = _matching_function(partial(pattern, computed=computed))
        if neuron is not None:
            yield pattern, neuron


def _matching_function(function: Function) -> Neuron | None:
    near, far = function(_NEAR), function(_FAR)
    for name, fit in _FITS.items():
        neuron = fit(name, function)
        if neuron is None or not np.isfinite((neuron.alpha, neuron.beta)).all():
            continue
        if not _agree(neuron, _NEAR, near):
            continue
        finite = np.isfinite(far)
        if not finite.any() or _agree(neuron, _FAR[finite], far[finite]):
            return neuron
    return None


def _agree(neuron: Neuron, x: Real, values: Real) -> bool:
    """Return whether the values for `x` agree, except where both are NaN, as roots below zero."""
    expected = neuron.values(x)
    comparable = ~(np.isnan(expected) & np.isnan(values))
    largest = np.abs(expected[np.isfinite(expected)]).max(initial=0.0)
    lost = _ROUNDING * np.maximum(1.0, np.abs(x)) * min(1.0, largest)
    allowed = _RELATIVE * np.abs(expected) + lost
    with np.errstate(invalid="ignore"):  # of infinities
        near = (np.abs(expected - values) <= allowed) & np.isfinite(expected)
    near |= expected == values
    return bool(comparable.any() and near[comparable].all())


def _neuron(function: NeuronFunction, alpha: float = 0.0, beta: float = 0.0) -> Neuron:
    return Neuron(name="", inputs=(), outputs=(), function=function, alpha=alpha, beta=beta)


def _plain(name: NeuronFunction, function: Function) -> Neuron | None:
    return _neuron(name)


def _clamp(name: NeuronFunction, function: Function) -> Neuron | None:
    """Return a clamp whose bounds are the results for very large numbers."""
    large = 1e30
    low, high = (float(bound) for bound in function(np.array([-large, large])))
    clamp = Clamp(-math.inf if low <= -large else low, math.inf if high >= large else high)
    if math.isnan(low) or math.isnan(high) or not clamp.limits:
        return None
    return _neuron(name).replace(clamp=clamp)


def _silu(name: NeuronFunction, function: Function) -> Neuron | None:
    """Return a SiLU; its value at 1 is the sigmoid of alpha. Half of x is a product instead."""
    share = _at(function, 1.0)
    return (
        _neuron(name, _tidy(math.log(share / (1 - share))))
        if 0 < share < 1 and share != 0.5
        else None
    )


def _hard_sigmoid(name: NeuronFunction, function: Function) -> Neuron | None:
    """Return a hard sigmoid with the slope around zero and the value there, beta."""
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
    """Return the number without its last digits, which are errors of the fit."""
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
"""The known functions, and how to fit their attributes."""


_WRITTEN_OUT = frozenset({"silu"})


def unfuse_functions(
    network: Network, kept: Collection[str], untouched: Collection[str] = ()
) -> Network:
    """Return the network with a SiLU as a sigmoid and a product, unless `kept` names the function
    or `untouched` the layer.

    The sigmoid keeps the name of the layer, the product has that of the operator which the layer
    absorbed, so that a profile has the names of the user's file. A factor inside the sigmoid other
    than 1 would need a third layer; such a SiLU stays one layer.
    """
    written_out = {
        layer.name
        for layer in network.layers
        if isinstance(layer, Neuron)
        and layer.function in _WRITTEN_OUT
        and layer.function not in kept
        and layer.alpha == 1
        and layer.name not in untouched
    }
    if not written_out:
        return network
    names = names_of(network)
    layers: list[Layer] = []
    tensors: list[Tensor] = []
    for layer in network.layers:
        if layer.name not in written_out:
            layers.append(layer)
            continue
        assert isinstance(layer, Neuron)
        between = new_name(names, f"{layer.name}.sigmoid")
        product, *absorbed = layer.fused or (f"{layer.name}.product",)
        tensors.append(replace(network.tensors[layer.output], name=between))
        sigmoid = layer.replace(function="sigmoid", alpha=0.0, outputs=(between,), fused=())
        layers += [
            sigmoid,
            Elementwise(
                name=new_name(names, product),
                inputs=(*layer.inputs, between),
                outputs=layer.outputs,
                kind="product",
                fused=tuple(absorbed),
            ),
        ]
    return network.with_layers(layers, tensors)


def fuse_clamps(network: Network) -> Network:
    """Let layers end in the clamp that follows them.

    1. A clamp that is the only reader of its input is fused into the layer that writes it, if that
       layer can end in a clamp or is one; it keeps its name and writes the output of the clamp.
    2. Several consecutive clamps may be fused into one layer.
    """
    rewriter = Rewriter(network)
    for layer in network.layers:
        before = clamp = None
        if isinstance(layer, Neuron) and layer.function == "clamp":
            before = rewriter.private_producer(layer.inputs[0])
            clamp = _last_clamp(before)
        if before is None or clamp is None:
            rewriter.keep(layer)
            continue
        assert isinstance(layer, Neuron)
        rewriter.keep(before.replace(**absorbed(before, layer), clamp=clamp.then(layer.clamp)))
    return rewriter.finish()


def _last_clamp(layer: Layer | None) -> Clamp | None:
    if isinstance(layer, Neuron) and layer.function != "clamp":
        return None
    return getattr(layer, "clamp", None)
