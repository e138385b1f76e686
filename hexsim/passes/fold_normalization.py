"""Lets a Normalization scale and shift what it has normalised."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from hexsim.graph.ir import Constant, Layer, Network
from hexsim.layers import NO_CLAMP, Elementwise, Normalization
from hexsim.passes._rewriter import Array, Rewriter, absorbed

Join = Callable[[Array, Array], Array]


def fold_normalization(network: Network) -> Network:
    """Fold products with constants, and sums of them, into the Normalization before.

    1. A product, sum or difference of what only it reads and a constant goes into the scale and
       the shift of the Normalization that writes it.
    2. Not if the Normalization already ends in a clamp, or the constant makes the result larger.

    The new constants are computed when first needed, in single.
    """
    rewriter = Rewriter(network)
    for layer in network.layers:
        operands = _operands(layer, network)
        before = rewriter.private_producer(operands[0]) if operands else None
        if (
            operands is None
            or not isinstance(before, Normalization)
            or before.clamp != NO_CLAMP
            or network.shape(before.inputs[0]) != network.shape(layer.outputs[0])
        ):
            rewriter.keep(layer)
            continue
        assert isinstance(layer, Elementwise)
        rewriter.keep(_with(before, layer, operands[1], rewriter))
    return rewriter.finish()


def _operands(layer: Layer, network: Network) -> tuple[str, str] | None:
    """The tensor and the constant of a layer that scales or shifts, None for any other."""
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


def _with(
    before: Normalization, layer: Elementwise, operand: str, rewriter: Rewriter
) -> Normalization:
    changes = absorbed(before, layer)
    constant = rewriter.constant(operand)
    if layer.kind == "product":
        changes["scale"] = _joined(
            before.scale, constant, np.multiply, f"{layer.name}.scale", rewriter
        )
        if before.shift is not None:
            name = f"{layer.name}.shift"
            changes["shift"] = _joined(before.shift, constant, np.multiply, name, rewriter)
    else:
        add = np.add if layer.kind == "sum" else _less
        changes["shift"] = _joined(before.shift, constant, add, f"{layer.name}.shift", rewriter)
    return before.replace(**changes)


def _less(shift: Array, constant: Array) -> Array:
    return np.asarray(shift - constant)


def _joined(own: str | None, constant: Constant, join: Join, name: str, rewriter: Rewriter) -> str:
    """Name what is made of a scale or shift, 1 or 0 if there is none, and a constant."""
    if own is None and join is not _less:
        return rewriter.new_constant(constant)
    mine = Constant(name, (), np.zeros(())) if own is None else rewriter.constant(own)
    shape = np.broadcast_shapes(mine.shape, constant.shape)
    made = Constant(name, shape, lambda: join(mine.value(), constant.value()), constant.dtype)
    return rewriter.new_constant(made)
