"""Opaque: the node itself, with the names its tensors have now."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

import onnx

from hexsim.layers import Opaque
from hexsim.onnx_io.graph_builder import GraphBuilder


def emit_opaque(layer: Opaque, graph: GraphBuilder) -> None:
    """The node of the file; omitted inputs and outputs stay omitted."""
    node = onnx.NodeProto.FromString(layer.node)
    node.name = layer.name
    inputs = _renamed(node.input, (graph.read(name) for name in layer.inputs))
    outputs = _renamed(node.output, layer.outputs)
    del node.input[:], node.output[:]
    node.input.extend(inputs)
    node.output.extend(outputs)
    graph.verbatim(node)


def _renamed(old: Sequence[str], new: Iterable[str]) -> list[str]:
    """Replace the names that are not empty, in order."""
    names = iter(new)
    return [next(names) if name else "" for name in old]
