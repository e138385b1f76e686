"""Opaque: the node itself, with the names its tensors have now."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

import numpy as np
import onnx

from hexsim.layers import Opaque
from hexsim.onnx_io.graph_builder import GraphBuilder


def emit_opaque(layer: Opaque, graph: GraphBuilder) -> None:
    """The node of the file; omitted inputs and outputs stay omitted."""
    node = onnx.NodeProto.FromString(layer.node)
    node.name = layer.name
    inputs = _renamed(node.input, (graph.read(name) for name in layer.inputs))
    if node.op_type == "Pad" and len(inputs) > 3:
        inputs = _without_axes(layer, inputs, graph)
    outputs = _renamed(node.output, layer.outputs)
    del node.input[:], node.output[:]
    node.input.extend(inputs)
    node.output.extend(outputs)
    graph.verbatim(node)


def _renamed(old: Sequence[str], new: Iterable[str]) -> list[str]:
    """Replace the names that are not empty, in order."""
    names = iter(new)
    return [next(names) if name else "" for name in old]


def _without_axes(layer: Opaque, inputs: list[str], graph: GraphBuilder) -> list[str]:
    """Pad all axes explicitly: onnxruntime 1.23 moves transposes past Pad as if it had no axes."""
    constants = graph.network.constants
    data, pads_name, *_, axes_name = layer.inputs
    if pads_name not in constants or axes_name not in constants:
        return inputs
    rank = len(graph.shape(data))
    axes = [int(axis) % rank for axis in constants[axes_name].value().reshape(-1)]
    added = constants[pads_name].value().reshape(2, -1)
    pads = np.zeros((2, rank), np.int64)
    pads[:, axes] = added
    return [inputs[0], graph.literal(pads.reshape(-1)), inputs[2]]
