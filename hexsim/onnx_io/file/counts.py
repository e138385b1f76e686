"""How much an ONNX file speaks of, asked before anything looks at its parts.

Counted are the nodes of the graph, of its subgraphs and of functions, the inputs and outputs of the
graph, and names: those of tensors wherever they are said, of attributes, and of axes.

Left out: how large tensors are, which is asked where one is made or read.
"""

from __future__ import annotations

from collections.abc import Sequence

import onnx

from hexsim import budget
from hexsim.onnx_io.file.node import subgraphs


def require_counts(model: onnx.ModelProto, label: str) -> None:
    """Raise HexsimError, naming the file by `label`, if it speaks of more than the budget."""
    graph = model.graph
    varying = max(0, len(graph.input) - len(graph.initializer))  # old files list constants, too
    budget.require(budget.ENDS, varying + len(graph.output), label)
    counts = _Counts(label)
    counts.add_names(len(model.functions) + len(model.opset_import))
    for function in model.functions:
        counts.add_names(len(function.input) + len(function.output))
        counts.add_nodes(function.node)
    counts.add_graph(graph)
    for training in model.training_info:
        counts.add_graph(training.initialization)
        counts.add_graph(training.algorithm)
    counts.add_inner()


class _Counts:
    """Counts so far, which are refused as soon as they exceed the budget.

    First come all nodes of a graph as one number, and later what each of them holds.
    """

    def __init__(self, label: str) -> None:
        self._label = label
        self._nodes = self._names = 0
        self._pending: list[Sequence[onnx.NodeProto]] = []

    def add_graph(self, graph: onnx.GraphProto) -> None:
        """A graph, and what it says of tensors."""
        self.add_nodes(graph.node)
        stored = len(graph.initializer) + len(graph.sparse_initializer)
        self.add_names(stored + len(graph.quantization_annotation))
        for values in (graph.input, graph.output, graph.value_info):
            self.add_names(len(values))
            self.add_names(sum(len(value.type.tensor_type.shape.dim) for value in values))

    def add_nodes(self, nodes: Sequence[onnx.NodeProto]) -> None:
        self._nodes += len(nodes)
        budget.require(budget.NODES, self._nodes, self._label)
        self._pending.append(nodes)

    def add_names(self, count: int) -> None:
        self._names += count
        budget.require(budget.NAMES, self._names, self._label)

    def add_inner(self) -> None:
        """What nodes hold that were added: names, and graphs with nodes of their own."""
        while self._pending:
            nodes = self._pending.pop()
            self.add_names(sum(len(n.input) + len(n.output) + len(n.attribute) for n in nodes))
            for node in nodes:
                for graph in subgraphs(node):
                    self.add_graph(graph)
