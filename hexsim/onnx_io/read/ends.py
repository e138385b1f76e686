"""Ends a graph at tensors inside it; the application computes the rest.

Detectors end in operators whose results have no size before the network runs. A phone's runtime
does not support them either, so networks are usually cut before these operators.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import onnx

from hexsim.errors import unknown
from hexsim.onnx_io.file.node import outer_names
from hexsim.onnx_io.file.source import OnnxSource


def ending_at(source: OnnxSource, names: Sequence[str]) -> OnnxSource:
    """Return `source` with the outputs `names` and the nodes that they need.

    Without `names`, `source` is returned unchanged. Raises HexsimError for a name that no node
    writes.
    """
    if not names:
        return source
    writers = {name: node for node in source.graph.node for name in node.output if name}
    for name in names:
        if name not in writers:
            raise unknown(f"tensor of {source.label}", name, writers)
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
