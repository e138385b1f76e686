"""Expansions: nodes that stand for several standard ones, one file per family.

A file says in its table EXPANSIONS which operators it expands, with their domain. What an
expansion writes computes in floats what the node does; codes stay in QuantizeLinear and
DequantizeLinear nodes, from which they are taken. An expansion that returns None leaves its node as
it is.

Some operators can be written in others only where the shapes of their inputs are known. These are
in the table SHAPED, and are expanded when the reader comes to them. Such an expansion raises
NotALayerError, with the reason, to leave its node as it is, and InvalidDataError if the node
contradicts its inputs.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

import onnx

from hexsim.discovery import joined
from hexsim.onnx_io.file.node import OnnxNode
from hexsim.onnx_io.file.source import OnnxSource
from hexsim.onnx_io.read.file_graph import FileGraph, constants_first, named
from hexsim.onnx_io.read.importer import Importer
from hexsim.onnx_io.read.node_check import check, is_of_onnx
from hexsim.udl import find

Expansion = Callable[[OnnxNode, FileGraph], Sequence[onnx.NodeProto] | None]
ShapedExpansion = Callable[[OnnxNode, Importer], Sequence[onnx.NodeProto]]

EXPANSIONS: Mapping[str, Expansion] = joined(__name__, "EXPANSIONS")
"""By operator, with its domain unless that is the standard one."""

SHAPED: Mapping[str, ShapedExpansion] = joined(__name__, "SHAPED")
"""The same of operators whose expansion depends on the shapes of their inputs."""


def expanded(
    graph: onnx.GraphProto, source: OnnxSource, labels: set[str]
) -> tuple[list[OnnxNode], list[OnnxNode]]:
    """Return the nodes of `graph` with all expansions, constants first, and those expanded.

    Names of nodes become `labels`. Operators that the user brings are none.
    """
    nodes: list[OnnxNode] = []
    replaced_nodes: list[OnnxNode] = []
    file_graph = FileGraph(graph, named(graph.node, source, labels), source.opset)
    for node in file_graph.nodes:
        expand = None if find(node.op_type) else EXPANSIONS.get(node.op_type)
        if expand is not None and is_of_onnx(node):
            check(node)
        parts = None if expand is None else expand(node, file_graph)
        if parts is None:
            nodes.append(node)
            continue
        replaced_nodes.append(node)
        labels.discard(node.name)
        nodes += named(parts, source, labels)
    return constants_first(nodes), replaced_nodes


def expanded_by_shape(node: OnnxNode, net: Importer, source: OnnxSource) -> list[OnnxNode]:
    """Return the nodes, constants first, in place of one whose operator is in SHAPED.

    Raises what the expansion raises; then nothing has changed in `net`.
    """
    parts = SHAPED[node.op_type](node, net)
    net.forget(node)
    net.labels.discard(node.name)
    net.expanded[node.name] = node.op_type
    nodes = constants_first(named(parts, source, net.labels))
    net.expect(nodes, ())
    return nodes
