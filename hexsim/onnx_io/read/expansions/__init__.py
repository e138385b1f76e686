"""Expansions replace a node by several standard nodes; one file per family.

The table EXPANSIONS of a file lists the operators that it expands, with their domain. An expansion
adds the new nodes and returns their result, or None to leave its node unchanged. They compute the
same in floats; codes stay in QuantizeLinear and DequantizeLinear nodes.

Some operators can only be expanded when the shapes of their inputs are known. These are in the
table SHAPED, and are expanded when the reader reaches them. Such an expansion returns the nodes. It
raises NotALayerError, with the reason, to leave its node unchanged, and InvalidDataError if the
node does not fit its inputs.
"""

from collections.abc import Callable, Mapping, Sequence

import onnx

from hexsim.discovery import joined
from hexsim.onnx_io.file.node import OnnxNode, check, is_of_onnx
from hexsim.onnx_io.file.source import OnnxSource
from hexsim.onnx_io.read.expansions._parts import ExpansionNodes
from hexsim.onnx_io.read.file_graph import FileGraph, constants_first, named
from hexsim.onnx_io.read.importer import Importer
from hexsim.udl import find

Expansion = Callable[[OnnxNode, FileGraph, ExpansionNodes], str | None]
ShapedExpansion = Callable[[OnnxNode, Importer], Sequence[onnx.NodeProto]]

EXPANSIONS: Mapping[str, Expansion] = joined(__name__, "EXPANSIONS")
"""The expansions by operator, with its domain unless that is the standard one."""

_OF_ANY_DOMAIN = {name: EXPANSIONS[name] for name in ("Relu6", "ReLU6")}
"""The expansions of operators that no operator set of ONNX has."""

SHAPED: Mapping[str, ShapedExpansion] = joined(__name__, "SHAPED")
"""The expansions that depend on the shapes of inputs, by operator."""


def expanded(
    graph: onnx.GraphProto, source: OnnxSource, labels: set[str]
) -> tuple[list[OnnxNode], list[OnnxNode]]:
    """Return the nodes of `graph` after all expansions, constants first, and the replaced nodes.

    Names of nodes are added to `labels`. User-defined operators are not expanded.
    """
    nodes: list[OnnxNode] = []
    replaced_nodes: list[OnnxNode] = []
    file_graph = FileGraph(graph, named(graph.node, source, labels), source.opset)
    for node in file_graph.nodes:
        known = EXPANSIONS.get(node.op_type) or _OF_ANY_DOMAIN.get(node.standard)
        expand = None if find(node.op_type) else known
        if expand is not None and is_of_onnx(node):
            check(node)
        parts = ExpansionNodes(node, source.opset)
        result = None if expand is None else expand(node, file_graph, parts)
        if result is None:
            nodes.append(node)
            continue
        replaced_nodes.append(node)
        labels.discard(node.name)
        nodes += named(parts.finish(result), source, labels)
    return constants_first(nodes), replaced_nodes


def expanded_by_shape(node: OnnxNode, net: Importer, source: OnnxSource) -> list[OnnxNode]:
    """Return the nodes, constants first, that replace one whose operator is in SHAPED.

    Raises the exceptions of the expansion; then `net` is unchanged.
    """
    parts = SHAPED[node.op_type](node, net)
    net.facts.forget(node)
    net.facts.labels.discard(node.name)
    net.record.expanded[node.name] = node.op_type
    nodes = constants_first(named(parts, source, net.facts.labels))
    net.expect(nodes, ())
    return nodes
