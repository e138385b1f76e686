"""Makes quantised inputs and outputs real, as in SNPE's files.

The inputs and outputs of a quantised file may be codes (quantised values). In hexsim an application
passes real numbers, and the runtime quantises them by the encodings in the file.

Rules
1. An input that is only dequantised, by all nodes with the same step and zero point, becomes real,
   and a QuantizeLinear follows it. Nodes that only move codes may come before the dequantisation.
2. An output that a node quantises is dequantised after it, and keeps its name.
"""

import math

import onnx

from hexsim.texts.names import new_name

FLOAT = onnx.TensorProto.FLOAT
_MOVES = frozenset({"Identity", "Reshape", "Squeeze", "Transpose", "Unsqueeze"})
"""Operators that only move the elements of their first input."""


def with_real_ends(model: onnx.ModelProto) -> onnx.ModelProto:
    """Return a copy of `model` with real inputs and outputs."""
    changed = onnx.ModelProto()
    changed.CopyFrom(model)
    graph = changed.graph
    input_nodes = [node for value in graph.input for node in _real_input(value, graph)]
    output_nodes = [node for value in graph.output for node in _real_output(value, graph)]
    nodes = [*input_nodes, *graph.node, *output_nodes]
    del graph.node[:]
    graph.node.extend(nodes)
    return changed


def _real_input(value: onnx.ValueInfoProto, graph: onnx.GraphProto) -> list[onnx.NodeProto]:
    readers = _ends(value.name, graph)
    encodings = {tuple(node.input[1:]) for node in readers}
    if len(encodings) != 1 or {node.op_type for node in readers} != {"DequantizeLinear"}:
        return []
    if len(readers[0].input) < 3 or _size(readers[0].input[1], graph) != 1:
        return []
    codes = _free(f"{value.name}_codes", graph)
    for node in graph.node:
        for position, name in enumerate(node.input):
            if name == value.name:
                node.input[position] = codes
    value.type.tensor_type.elem_type = FLOAT
    return [_node("QuantizeLinear", value.name, codes, readers[0])]


def _ends(name: str, graph: onnx.GraphProto) -> list[onnx.NodeProto]:
    """Return the nodes that read a tensor, passing through nodes that only move elements."""
    names, readers = {name}, []
    for node in graph.node:  # in order
        if names.intersection(node.input):
            if node.op_type in _MOVES:
                names.update(node.output)
            else:
                readers.append(node)
    return readers


def _size(name: str, graph: onnx.GraphProto) -> int | None:
    """Return the number of elements of a constant, None if the tensor is computed."""
    return next((math.prod(item.dims) for item in graph.initializer if item.name == name), None)


def _real_output(value: onnx.ValueInfoProto, graph: onnx.GraphProto) -> list[onnx.NodeProto]:
    writer = next((node for node in graph.node if value.name in node.output), None)
    if writer is None or writer.op_type != "QuantizeLinear" or len(writer.input) < 3:
        return []
    codes = _free(f"{value.name}_codes", graph)
    for node in graph.node:
        for names in (node.input, node.output):
            for position, name in enumerate(names):
                if name == value.name:
                    names[position] = codes
    value.type.tensor_type.elem_type = FLOAT
    return [_node("DequantizeLinear", codes, value.name, writer)]


def _node(op_type: str, source: str, target: str, model_node: onnx.NodeProto) -> onnx.NodeProto:
    """Return a node with the step, zero point and attributes of `model_node`."""
    name = f"{target}_{op_type}"
    inputs = [source, *model_node.input[1:]]
    return onnx.NodeProto(
        op_type=op_type, name=name, input=inputs, output=[target], attribute=model_node.attribute
    )


def _free(name: str, graph: onnx.GraphProto) -> str:
    return new_name({tensor for node in graph.node for tensor in (*node.input, *node.output)}, name)
