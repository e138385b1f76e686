"""Inputs and outputs that are codes become real numbers, as SNPE's files have them.

A quantised file may take and hand out codes. Here an application gives and gets real numbers, and
the runtime quantises them, by the encodings that the file says.

Rules
1. An input that nodes only dequantise, all by the same step and zero point, becomes real, and is
   quantised first. Codes may be moved before.
2. An output that a node quantises is dequantised behind it, and keeps its name.
"""

from __future__ import annotations

import math

import onnx

FLOAT = onnx.TensorProto.FLOAT
_MOVES = frozenset({"Identity", "Reshape", "Squeeze", "Transpose", "Unsqueeze"})
"""Operators that only move what their first input holds."""


def with_real_ends(model: onnx.ModelProto) -> onnx.ModelProto:
    """Return a copy of `model` with real inputs and outputs."""
    changed = onnx.ModelProto()
    changed.CopyFrom(model)
    graph = changed.graph
    first = [node for value in graph.input for node in _real_input(value, graph)]
    last = [node for value in graph.output for node in _real_output(value, graph)]
    nodes = [*first, *graph.node, *last]
    del graph.node[:]
    graph.node.extend(nodes)
    return changed


def _real_input(value: onnx.ValueInfoProto, graph: onnx.GraphProto) -> list[onnx.NodeProto]:
    ends = _ends(value.name, graph)
    encodings = {tuple(node.input[1:]) for node in ends}
    if len(encodings) != 1 or {node.op_type for node in ends} != {"DequantizeLinear"}:
        return []
    if len(ends[0].input) < 3 or _size(ends[0].input[1], graph) != 1:
        return []
    codes = _free(f"{value.name}_codes", graph)
    for node in graph.node:
        for at, name in enumerate(node.input):
            if name == value.name:
                node.input[at] = codes
    value.type.tensor_type.elem_type = FLOAT
    return [_node("QuantizeLinear", value.name, codes, ends[0])]


def _ends(name: str, graph: onnx.GraphProto) -> list[onnx.NodeProto]:
    """The nodes that do more than move what a tensor holds."""
    names, found = {name}, []
    for node in graph.node:  # in order
        if names.intersection(node.input):
            if node.op_type in _MOVES:
                names.update(node.output)
            else:
                found.append(node)
    return found


def _size(name: str, graph: onnx.GraphProto) -> int | None:
    """Numbers in a constant, None if it is computed."""
    return next((math.prod(one.dims) for one in graph.initializer if one.name == name), None)


def _real_output(value: onnx.ValueInfoProto, graph: onnx.GraphProto) -> list[onnx.NodeProto]:
    writer = next((node for node in graph.node if value.name in node.output), None)
    if writer is None or writer.op_type != "QuantizeLinear" or len(writer.input) < 3:
        return []
    codes = _free(f"{value.name}_codes", graph)
    for node in graph.node:
        for names in (node.input, node.output):
            for at, name in enumerate(names):
                if name == value.name:
                    names[at] = codes
    value.type.tensor_type.elem_type = FLOAT
    return [_node("DequantizeLinear", codes, value.name, writer)]


def _node(op_type: str, source: str, target: str, like: onnx.NodeProto) -> onnx.NodeProto:
    """A node with the step, zero point and attributes of another."""
    name = f"{target}_{op_type}"
    inputs = [source, *like.input[1:]]
    return onnx.NodeProto(
        op_type=op_type, name=name, input=inputs, output=[target], attribute=like.attribute
    )


def _free(name: str, graph: onnx.GraphProto) -> str:
    taken = {one for node in graph.node for one in (*node.input, *node.output)}
    candidate, count = name, 1
    while candidate in taken:
        candidate, count = f"{name}_{count}", count + 1
    return candidate
