"""Opaque: the node of the file, with the current names of its tensors."""

from collections.abc import Iterable, Mapping, Sequence

import numpy as np
import onnx

from hexsim.layers import Opaque
from hexsim.layers.opaque import PART_DOMAIN
from hexsim.onnx_io.file.node import outer_names, subgraphs
from hexsim.onnx_io.write.as_run import as_run
from hexsim.onnx_io.write.graph_builder import Emitters, GraphBuilder

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
        node.input[0] = _out_of_reach(node.input[0], graph)
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


def count_from_the_front(node: onnx.NodeProto, rank: int) -> None:
    """Make negative axes positive: onnxruntime 1.20 to 1.23 crashes on negative ones."""
    for attribute in node.attribute:
        if attribute.name == "axes":
            attribute.ints[:] = [axis % rank for axis in attribute.ints]


def _out_of_reach(name: str, graph: GraphBuilder) -> str:
    """Pass a tensor through a sequence, past which onnxruntime does not move transposes."""
    sequence = graph.move("SequenceConstruct", [name])
    return graph.move("SequenceAt", [sequence, graph.literal(np.array(0, np.int64))])


EMITTERS: Emitters = {Opaque: emit_opaque}
