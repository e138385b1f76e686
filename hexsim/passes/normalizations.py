"""Finds normalisations that ONNX files write as means, squares, roots and quotients.

As with element-wise functions, a pattern is recognised by its values: layers are evaluated on
numbers and compared with each kind of Normalization. So `x - mean` may be written once or twice, a
square as a power or a product, and a root in the divisor or as a factor.

Folds scales and shifts into the Normalization before them.

Makes a softmax run along the last axis, as integer engines require.
"""

import math
from collections.abc import Callable, Sequence

import numpy as np

from hexsim.graph.ir import Constant, Layer, Network, Tensor
from hexsim.layers import (
    NO_CLAMP,
    Elementwise,
    Normalization,
    Permute,
    Pooling,
    Reduce,
    Reshape,
    Softmax,
    Tile,
)
from hexsim.layers.normalization import NormalizationKind
from hexsim.passes._rewriter import (
    Array,
    Pattern,
    Real,
    Rewriter,
    computed,
    names_of,
    number_by_number,
    positions,
    readings,
    with_tensors_named,
)
from hexsim.texts.text import new_name

_MOST_LAYERS = 12
_MOST_NUMBERS = 1 << 14
"""The most numbers on which a pattern is evaluated; for larger axes a few numbers are used."""
_FEW = 6
_SMALLEST = 1e-13
"""The least epsilon; a smaller one has no effect beside 1 in float64."""
_SIZES = (0.0, 1e-9, 1e-7, 1e-6, 1e-5, 1e-4, 1e-3, 1e-2, 1.0, 30.0, 1e4)
"""The magnitudes at which a pattern is compared: where any epsilon matters, and where none does."""
_TINY, _MOST_FLOOR = 1e-30, 1e-5
"""A magnitude at which the divisor is its floor, and the largest floor: a larger one would matter
beside a step of codes, for which it counts as an epsilon."""
_FORMULAS: dict[NormalizationKind, Callable[[Real], tuple[Real, float]]] = {
    "deviation": lambda x: (x - x.mean(), float(np.square(x - x.mean()).mean())),
    "mean_square": lambda x: (x, float(np.square(x).mean())),
    "length": lambda x: (x, float(np.square(x).sum())),
}
"""The dividend of each kind, and the square of its divisor."""


def find_normalizations(network: Network) -> Network:
    """Replace layers that together normalise one tensor by one Normalization.

    1. These layers are means and sums along the same axes, element-wise layers, and Tile, if no
       other layer reads the tensors between them.
    2. They match a kind of Normalization if both agree, up to the rounding of float32 constants, on
       numbers of several magnitudes. The epsilon, or the least divisor,
       follows from the results for small numbers.
    3. Of several possible first layers, the one that gives the longest pattern counts: a deviation
       without its mean would match a root mean square.
    4. The Normalization takes the name of the first layer.
    """
    rewriter = Rewriter(network)
    position = positions(network)
    for layer in network.layers:
        rewriter.keep(layer)
        if number_by_number(layer, rewriter) is None:
            continue
        longest = None
        for pattern in readings(layer, rewriter, position, _numbers, _MOST_LAYERS):
            normalization = _matching_normalization(pattern, network)
            longest = longest if normalization is None else (pattern, normalization)
        if longest is not None:
            longest[0].replaced_by(longest[1], rewriter)
    return rewriter.finish()


def _numbers(layer: Layer, rewriter: Rewriter) -> dict[str, float] | None:
    """Return the constants of a layer that may be part of a normalisation, None for any other."""
    is_mean = _axes(layer, rewriter.network) is not None
    if is_mean or isinstance(layer, Tile):
        return {}
    return number_by_number(layer, rewriter)


def _axes(layer: Layer, network: Network) -> tuple[int, ...] | None:
    """Return the stored axes along which `layer` takes a mean or a sum, None if it takes none."""
    if isinstance(layer, Reduce) and layer.kind in ("mean", "sum"):
        return layer.axes
    if isinstance(layer, Pooling) and layer.kind == "average":
        _, height, width, _ = network.shape(layer.inputs[0])
        return (1, 2) if layer.is_global(height, width) else None
    return None


def _matching_normalization(pattern: Pattern, network: Network) -> Normalization | None:
    axes_taken = {_axes(layer, network) for layer in pattern.layers} - {None}
    if len(axes_taken) != 1:
        return None
    (axes,) = axes_taken
    assert axes is not None, "None was removed"
    shape = network.shape(pattern.source)
    count = math.prod(shape[axis] for axis in axes)
    uses_few = count > _MOST_NUMBERS
    sums = (layer for layer in pattern.layers if isinstance(layer, Reduce) and layer.kind == "sum")
    if count < 2 or (uses_few and any(sums)):
        return None
    numbers = _FEW if uses_few else count

    def function(x: Real) -> Real:
        reshaped = x.reshape([numbers if axis == axes[0] else 1 for axis in range(len(shape))])
        return pattern(reshaped, lambda layer, inputs: _output(layer, inputs, axes)).reshape(-1)

    for kind, formula in _FORMULAS.items():
        if (fit := _fitted(function, formula, numbers)) is not None:
            epsilon, floor = fit
            return Normalization(
                name="", inputs=(), outputs=(), kind=kind, axes=axes, epsilon=epsilon, floor=floor
            )
    return None


def _output(layer: Layer, inputs: Sequence[Real], axes: tuple[int, ...]) -> Real:
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
) -> tuple[float, float] | None:
    """Return the epsilon and the floor with which `function` equals `formula`, None without any."""
    x = np.random.default_rng(0).normal(0.7, 1.0, count)
    x[:2] = 0.9, -1.3  # a layer may change one sign only
    epsilon = 0.0
    for size in (1.0, None):  # once for its order, once beside numbers of its order
        numbers = x / math.sqrt(formula(x)[1]) * (math.sqrt(epsilon) if size is None else size)
        if not numbers.any():
            break
        dividend, square = formula(numbers)
        largest = int(np.abs(dividend).argmax())
        ratio = float(function(numbers)[largest] / dividend[largest])
        if not (math.isfinite(ratio) and ratio > 0):
            return None
        inverse = 1 / ratio
        epsilon = max(inverse * inverse - square, 0.0)
        if not math.isfinite(epsilon):
            return None
        if epsilon < _SMALLEST:
            epsilon = 0.0
    floor = 0.0
    if epsilon == 0.0:
        dividend, _ = formula(_TINY * x)
        largest = int(np.abs(dividend).argmax())
        ratio = float(function(_TINY * x)[largest] / dividend[largest])
        floor = 1 / ratio if ratio > 0 and 1 / ratio <= _MOST_FLOOR else 0.0
    for size in (*_SIZES, *(-size for size in _SIZES)):
        dividend, square = formula(size * x)
        with np.errstate(all="ignore"):
            expected = dividend / np.maximum(np.sqrt(square + epsilon), floor)
        allowed = 1e-5 * np.abs(expected) + 1e-12 * np.abs(expected).max()
        values = function(size * x)
        near = (np.abs(values - expected) <= allowed) & np.isfinite(expected)
        near |= (values == expected) | (np.isnan(values) & np.isnan(expected))
        if not near.all():
            return None
    is_floor = floor > 10 * _TINY
    return float(f"{epsilon:.6g}"), float(f"{floor:.9g}") if is_floor else 0.0


Join = Callable[[Array, Array], Array]


def fold_normalization(network: Network) -> Network:
    """Fold products, sums and differences with constants into the Normalization before them.

    1. A product, sum or difference of a tensor and a constant, if it is the only reader, is folded
       into scale and shift of the Normalization that writes the tensor.
    2. So is a constant per channel after a Reshape that joins groups of channels.
    3. Not if the Normalization ends in a clamp, or the constant makes the result larger.

    The new constants are computed when first used, in float32. What the Normalization writes before
    such a Reshape has other values then, and gets another name.
    """
    rewriter, names = Rewriter(network), names_of(network)
    changed: dict[str, str] = {}
    for layer in network.layers:
        operands = _operands(layer, network)
        before = rewriter.private_producer(operands[0]) if operands else None
        joined = before if isinstance(before, Reshape) else None
        if operands is None or before is None:
            rewriter.keep(layer)
            continue
        constant: Constant | None = rewriter.constant(operands[1])
        if joined is not None:
            before = rewriter.private_producer(joined.inputs[0])
            constant = _by_group(constant, joined, network)
        if (
            not isinstance(before, Normalization)
            or constant is None
            or before.clamp != NO_CLAMP
            or network.shape(operands[0]) != network.shape(layer.outputs[0])
        ):
            rewriter.keep(layer)
            continue
        assert isinstance(layer, Elementwise)
        changes = _changes(before, layer, constant, rewriter)
        fused = (*before.fused, layer.name, *layer.fused)
        if joined is None:
            rewriter.keep(before.replace(**changes, fused=fused, outputs=layer.outputs))
        else:
            changed[before.output] = new_name(names, f"{layer.name}.groups")
            rewriter.keep(before.replace(**changes, fused=fused))
            rewriter.keep(joined.replace(outputs=layer.outputs))
    return with_tensors_named(rewriter.finish(), changed)


def _operands(layer: Layer, network: Network) -> tuple[str, str] | None:
    """Return the tensor and the constant of a layer that scales or shifts, None for any other."""
    if (
        not isinstance(layer, Elementwise)
        or layer.kind not in ("product", "sum", "sub")
        or len(layer.inputs) != 2
        or layer.clamp != NO_CLAMP
    ):
        return None
    data, constant = sorted(layer.inputs, key=lambda name: name in network.constants)
    fits = data in network.tensors and constant in network.constants
    if not fits or (layer.kind == "sub" and data != layer.inputs[0]):
        return None
    return data, constant


def _by_group(constant: Constant | None, joined: Reshape, network: Network) -> Constant | None:
    """Return a constant per channel in the shape of groups, None if that is impossible."""
    groups = network.shape(joined.inputs[0])[-2:]
    if constant is None or joined.shape[-1:] != (math.prod(groups),):
        return None
    if constant.elements == 1:
        return constant.derive((), lambda array: array.reshape(()))
    if constant.elements != joined.shape[-1] or constant.shape[-1] != constant.elements:
        return None
    return constant.derive(groups, lambda array: array.reshape(groups))


def _changes(
    before: Normalization, layer: Elementwise, constant: Constant, rewriter: Rewriter
) -> dict[str, object]:
    """Return scale and shift, each combined with the constant of `layer`."""
    scale, shift = f"{layer.name}.scale", f"{layer.name}.shift"
    if layer.kind != "product":
        add = np.add if layer.kind == "sum" else _difference
        return {"shift": _joined(before.shift, constant, add, shift, rewriter)}
    changes: dict[str, object] = {
        "scale": _joined(before.scale, constant, np.multiply, scale, rewriter)
    }
    if before.shift is not None:
        changes["shift"] = _joined(before.shift, constant, np.multiply, shift, rewriter)
    return changes


def _difference(shift: Array, constant: Array) -> Array:
    return np.asarray(shift - constant)


def _joined(
    existing: str | None, constant: Constant, join: Join, name: str, rewriter: Rewriter
) -> str:
    """Combine a scale or shift (else 1 or 0) with a constant; return the new constant's name."""
    if existing is None and join is not _difference:
        return rewriter.new_constant(constant.derive(constant.shape, np.asarray, name))
    before = Constant(name, (), np.zeros(())) if existing is None else rewriter.constant(existing)
    shape = np.broadcast_shapes(before.shape, constant.shape)
    combined = Constant(name, shape, lambda: join(before.value(), constant.value()), constant.dtype)
    return rewriter.new_constant(combined)


def move_softmax_axis(network: Network) -> Network:
    """Put permutes around a Softmax whose axes are not the last.

    1. If axes of more than one element follow those of the sum, they are swapped with them.
    2. The layer keeps its name, and the result of the second permute keeps the name of the output.
    """
    names = names_of(network)
    layers: list[Layer] = []
    tensors: list[Tensor] = []
    for layer in network.layers:
        if not isinstance(layer, Softmax) or _is_last(layer, network):
            layers.append(layer)
            continue
        shape = network.shape(layer.output)
        order = (
            *(axis for axis in range(len(shape)) if axis not in layer.axes),
            *sorted(layer.axes),
        )
        before, after = (new_name(names, f"{layer.name}.{suffix}") for suffix in ("last", "moved"))
        moved_shape = tuple(shape[axis] for axis in order)
        dtype = network.tensors[layer.output].dtype
        tensors += [
            Tensor(before, moved_shape, dtype=dtype),
            Tensor(after, moved_shape, dtype=dtype),
        ]
        count = len(shape) - len(layer.axes)
        layers += [
            Permute(name=before, inputs=layer.inputs, outputs=(before,), permutation=order),
            layer.replace(inputs=(before,), outputs=(after,), axes=tuple(range(count, len(shape)))),
            Permute(
                name=after,
                inputs=(after,),
                outputs=layer.outputs,
                permutation=tuple(int(axis) for axis in np.argsort(order)),
            ),
        ]
    return network.with_layers(layers, tensors)


def _is_last(layer: Softmax, network: Network) -> bool:
    shape = network.shape(layer.output)
    return all(size == 1 for size in shape[max(layer.axes) + 1 :])
