"""Opaque: the node of the file, with the current names of its tensors.

An opaque layer that was read from a file is checked to agree with the node in it, and nodes that
draw random numbers are found, since each run of them has another result. Whether the operator
accepts the attributes and inputs is not checked here, but by onnxruntime.

A node of a file is converted to the form that onnxruntime runs. QuantizeLinear and DequantizeLinear
get a new version whenever ONNX adds a narrow type, which onnxruntime supports later. Its own domain
has the same operators in every opset, without 8-bit floats.
"""

from collections.abc import Iterable, Mapping, Sequence

import onnx

from hexsim.errors import InvalidDataError
from hexsim.layers import Opaque
from hexsim.layers.onnx_nodes import PART_DOMAIN, RANDOM, operator_of
from hexsim.onnx_io.file.node import (
    EXTENSIONS,
    count_from_the_front,
    outer_names,
    standard_domain,
    subgraphs,
)
from hexsim.onnx_io.write.graph_builder import Emitters, GraphBuilder

_QUANTIZE_DEQUANTIZE = {"QuantizeLinear": {"axis"}, "DequantizeLinear": {"axis"}}
"""Operators that are in both domains, with the attributes that both have."""


def as_run(node: onnx.NodeProto, types: Iterable[str]) -> onnx.NodeProto:
    """Return `node` itself, or the same operator in the domain of onnxruntime.

    `types` are the element types of the tensors of its layer.
    """
    common_attributes = _QUANTIZE_DEQUANTIZE.get(node.op_type)
    if common_attributes is None or standard_domain(node.domain):
        return node
    if any(element_type.startswith("float8") for element_type in types):
        return node
    if any(attribute.name not in common_attributes for attribute in node.attribute):
        return node
    renamed = onnx.NodeProto()
    renamed.CopyFrom(node)
    renamed.domain = EXTENSIONS
    return renamed


_MISPLACED = ("Pad", "Resize")
"""Operators past which onnxruntime (1.23 to 1.31) moves transposes wrongly: as if `axes` did not
exist, and into axis orders that its own kernels refuse."""
_FIRST_WITH_SEQUENCES = 11
"""Opset; earlier ones have neither `axes` nor the modes in question."""


def emit_opaque(layer: Opaque, graph: GraphBuilder) -> None:
    """Write the node of the file, or the nodes of a part; omitted inputs and outputs stay so."""
    node = onnx.NodeProto.FromString(layer.node)
    names = [graph.read(name) for name in layer.inputs]
    around = outer_names(node)
    inside = dict(zip(around, names[len(names) - len(around) :], strict=True))
    if node.domain == PART_DOMAIN:
        inside.update(zip(node.output, layer.outputs, strict=True))
    _rename_inside(node, inside)
    types = graph.network.types_of(layer)
    if node.domain == PART_DOMAIN:
        for number, inner in enumerate(_body(node)):
            inner.name = f"{layer.name}/{number}"
            _emit(as_run(inner, types), graph)
        return
    node = as_run(node, types)
    node.name = layer.name
    if node.op_type == "Resize":
        count_from_the_front(node, len(layer.shapes[0]))
    inputs, outputs = _renamed(node.input, names), _renamed(node.output, layer.outputs)
    del node.input[:], node.output[:]
    node.input.extend(inputs)
    node.output.extend(outputs)
    _emit(node, graph)


def nodes_of(layer: Opaque) -> Sequence[onnx.NodeProto]:
    """Return the nodes of the file that a layer stands for."""
    node = onnx.NodeProto.FromString(layer.node)
    return _body(node) if node.domain == PART_DOMAIN else [node]


def _body(part: onnx.NodeProto) -> Sequence[onnx.NodeProto]:
    (body,) = subgraphs(part)
    return list(body.node)


def _emit(node: onnx.NodeProto, graph: GraphBuilder) -> None:
    if node.op_type in _MISPLACED and graph.opset >= _FIRST_WITH_SEQUENCES:
        node.input[0] = graph.out_of_reach(node.input[0])
    graph.verbatim(node)


def _renamed(old_names: Sequence[str], new_names: Iterable[str]) -> list[str]:
    """Replace the names that are not empty, in order."""
    names = iter(new_names)
    return [next(names) if name else "" for name in old_names]


def _rename_inside(node: onnx.NodeProto, names: Mapping[str, str]) -> None:
    """Rename the tensors that subgraphs of `node` share with the graph around it."""
    for graph in subgraphs(node):
        for inner in graph.node:
            inner.input[:] = [names.get(name, name) for name in inner.input]
            inner.output[:] = [names.get(name, name) for name in inner.output]
            _rename_inside(inner, names)
        for value in graph.output:
            value.name = names.get(value.name, value.name)


EMITTERS: Emitters = {Opaque: emit_opaque}


def require_node(layer: Opaque) -> None:
    """Raise InvalidDataError unless the layer's node can be read and names what the layer names."""
    try:
        node = onnx.NodeProto.FromString(layer.node)
        nodes = nodes_of(layer)
    except Exception as error:  # of protobuf, whose errors onnx does not export
        raise InvalidDataError("field 'node' holds no ONNX node") from error
    operator = operator_of([node.op_type for node in nodes])
    if operator not in (layer.op_type, layer.op_type.rpartition(".")[2]):
        raise InvalidDataError(f"field 'op_type' is '{layer.op_type}', and its node a '{operator}'")
    inputs = len(list(filter(None, node.input))) + len(outer_names(node))
    if inputs != len(layer.inputs):
        raise InvalidDataError(f"it has {len(layer.inputs)} inputs, and its node reads {inputs}")
    outputs = len(list(filter(None, node.output)))
    if outputs != len(layer.outputs):
        raise InvalidDataError(
            f"it has {len(layer.outputs)} outputs, and its node writes {outputs}"
        )


_SOMETIMES = frozenset({"Dropout"})
"""Operators that draw only in training."""


def draws(layer: Opaque) -> bool:
    """True if a node of the layer, or of a subgraph of one, may draw random numbers."""
    return _any_draws(nodes_of(layer))


def _any_draws(nodes: Iterable[onnx.NodeProto]) -> bool:
    return any(
        node.op_type in RANDOM | _SOMETIMES
        or any(_any_draws(graph.node) for graph in subgraphs(node))
        for node in nodes
    )
