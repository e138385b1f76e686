"""Finds normalisations that ONNX files spell in means, squares, roots and quotients.

As with functions of one number, a pattern is known by what it computes: layers are tried on numbers
and held against each kind of Normalization. So `x - mean` may be written once or twice, a square as
a power or a product, and a root in the divisor or as a factor.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence

import numpy as np

from hexsim.graph.ir import Layer, Network
from hexsim.layers import Normalization, Pooling, Reduce, Tile
from hexsim.layers.normalization import NormalizationKind
from hexsim.passes._pattern import (
    Pattern,
    Real,
    computed,
    number_by_number,
    positions,
    readings,
)
from hexsim.passes._rewriter import Rewriter

_MOST_LAYERS = 12
_MOST_NUMBERS = 1 << 14
"""Numbers that a pattern is tried on at most; of more, means of a few stand for means of all."""
_FEW = 6
_SMALLEST = 1e-13
"""An epsilon below it is none: it disappears beside one in double."""
_FORMULAS: dict[NormalizationKind, Callable[[Real], tuple[Real, float]]] = {
    "deviation": lambda x: (x - x.mean(), float(np.square(x - x.mean()).mean())),
    "mean_square": lambda x: (x, float(np.square(x).mean())),
    "length": lambda x: (x, float(np.square(x).sum())),
}
"""What each kind divides by the root of what."""


def find_normalizations(network: Network) -> Network:
    """Replace layers that together normalise one tensor by one Normalization.

    1. Means and sums along the same axes, what works number by number, and repetitions are such
       layers, if nobody else reads the tensors between them.
    2. They are a kind of Normalization if both agree, to the rounding of single constants, on
       numbers of several sizes. The epsilon is read off what becomes of small ones.
    3. Of several layers that could be first, the one with most layers behind it counts: what is
       left of a deviation without its mean is a root mean square.
    4. The Normalization takes the name of the first.
    """
    rewriter = Rewriter(network)
    position = positions(network)
    for layer in network.layers:
        rewriter.keep(layer)
        if number_by_number(layer, rewriter) is None:
            continue
        found = None
        for spelled in readings(layer, rewriter, position, _numbers, _MOST_LAYERS):
            known = _known(spelled, network)
            found = found if known is None else (spelled, known)
        if found is not None:
            found[0].replaced_by(found[1], rewriter)
    return rewriter.finish()


def _numbers(layer: Layer, rewriter: Rewriter) -> dict[str, float] | None:
    """The constants of a layer that may be part of a normalisation, None for any other."""
    is_mean = _axes(layer, rewriter.network) is not None
    if is_mean or isinstance(layer, Tile):
        return {}
    return number_by_number(layer, rewriter)


def _axes(layer: Layer, network: Network) -> tuple[int, ...] | None:
    """The stored axes along which `layer` takes a mean or a sum, None if it takes none."""
    if isinstance(layer, Reduce) and layer.kind in ("mean", "sum"):
        return layer.axes
    if isinstance(layer, Pooling) and layer.kind == "average":
        _, height, width, _ = network.shape(layer.inputs[0])
        return (1, 2) if layer.is_global(height, width) else None
    return None


def _known(spelled: Pattern, network: Network) -> Normalization | None:
    """The normalisation that the layers are."""
    along = {_axes(layer, network) for layer in spelled.layers} - {None}
    if len(along) != 1:
        return None
    (axes,) = along
    assert axes is not None, "what is no axis was left out"
    shape = network.shape(spelled.source)
    count = math.prod(shape[axis] for axis in axes)
    few = count > _MOST_NUMBERS
    if count < 2 or (few and _adds_up(spelled)):
        return None
    numbers = _FEW if few else count

    def function(x: Real) -> Real:
        tried = x.reshape([numbers if axis == axes[0] else 1 for axis in range(len(shape))])
        return spelled(tried, lambda layer, given: _made(layer, given, axes)).reshape(-1)

    for kind, formula in _FORMULAS.items():
        epsilon = _fitted(function, formula, numbers)
        if epsilon is not None:
            return Normalization(
                name="", inputs=(), outputs=(), kind=kind, axes=axes, epsilon=epsilon
            )
    return None


def _adds_up(spelled: Pattern) -> bool:
    return any(isinstance(layer, Reduce) and layer.kind == "sum" for layer in spelled.layers)


def _made(layer: Layer, inputs: Sequence[Real], axes: tuple[int, ...]) -> Real:
    """What a layer makes of numbers along the first of `axes`."""
    match layer:
        case Tile():
            return inputs[0]  # which is broadcast anyway
        case Reduce(kind="sum"):
            return np.asarray(inputs[0].sum(axis=axes, keepdims=True))
        case Reduce() | Pooling():
            return np.asarray(inputs[0].mean(axis=axes, keepdims=True))
        case _:
            return computed(layer, inputs)


def _fitted(
    function: Callable[[Real], Real], formula: Callable[[Real], tuple[Real, float]], count: int
) -> float | None:
    """The epsilon with which `function` is `formula`, None if it is not."""
    x = np.random.default_rng(0).normal(0.7, 1.0, count)
    epsilon = 0.0
    for size in (1.0, None):  # once for its order, once beside numbers of its order
        given = x / math.sqrt(formula(x)[1]) * (math.sqrt(epsilon) if size is None else size)
        if not given.any():
            break
        above, square = formula(given)
        at = int(np.abs(above).argmax())
        ratio = float(function(given)[at] / above[at])
        if not (math.isfinite(ratio) and ratio > 0):
            return None
        epsilon = max(1 / ratio**2 - square, 0.0)
        if epsilon < _SMALLEST:
            epsilon = 0.0
    for size in (1e-2, 1.0, 30.0):
        above, square = formula(size * x)
        if not np.allclose(function(size * x), above / math.sqrt(square + epsilon), 1e-5, 1e-6):
            return None
    return float(f"{epsilon:.6g}")
