"""Folds scales and shifts into the Normalization before them."""

import math
from collections.abc import Callable

import numpy as np

from hexsim.graph.ir import Constant, Layer, Network
from hexsim.layers import NO_CLAMP, Elementwise, Normalization, Reshape
from hexsim.passes._rewriter import Array, Rewriter, names_of, with_tensors_named
from hexsim.texts.names import new_name

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
