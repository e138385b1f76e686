"""Ends a graph at tensors inside it; the application computes the rest.

Detectors end in operators whose results have no size before the network runs. A phone's runtime
does not support them either, so networks are usually cut before these operators.
"""

from collections.abc import Sequence
from dataclasses import replace

import onnx

from hexsim.errors import unknown
from hexsim.onnx_io.file.node import outer_names
from hexsim.onnx_io.file.source import OnnxSource


def ends(source: OnnxSource, names: Sequence[str]) -> tuple[list[str], list[str]]:
    """Return the tensors that `names` mean, and remarks on names of nodes among them.

    A name that no tensor has may be that of a node, which stands for its outputs. Raises
    HexsimError for any other name.
    """
    writers = _writers(source)
    nodes = {node.name: [name for name in node.output if name] for node in source.graph.node}
    tensors, remarks = [], []
    for name in names:
        if name in writers:
            tensors.append(name)
            continue
        if not nodes.get(name):
            raise unknown(f"tensor of {source.label}", name, writers)
        tensors += nodes[name]
        written = ", ".join(f"'{output}'" for output in nodes[name])
        remarks.append(f"'{name}' is a node, not a tensor; its output {written} is taken")
    return tensors, remarks


def _writers(source: OnnxSource) -> dict[str, onnx.NodeProto]:
    return {name: node for node in source.graph.node for name in node.output if name}


def ending_at(source: OnnxSource, names: Sequence[str]) -> OnnxSource:
    """Return `source` with the outputs `names` and the nodes that they need.

    Without `names`, `source` is returned unchanged. They are names of tensors that nodes write.
    """
    if not names:
        return source
    writers = _writers(source)
    needed, waiting = set[str](), list(names)
    while waiting:
        name = waiting.pop()
        if name in writers and name not in needed:
            node = writers[name]
            needed.update(node.output)
            waiting += [*node.input, *outer_names(node)]
    graph = onnx.GraphProto()
    graph.CopyFrom(source.graph)
    needed_nodes = [node for node in graph.node if needed.intersection(node.output)]
    del graph.node[:], graph.output[:]
    graph.node.extend(needed_nodes)
    graph.output.extend(onnx.ValueInfoProto(name=name) for name in dict.fromkeys(names))
    return replace(source, graph=graph)
