"""Limits how many parts an ONNX file has, before anything else reads them.

Counted are the nodes of the graph, of its subgraphs and of functions, the inputs and outputs of the
graph, and all mentions of names: of tensors, attributes and axes.

The sizes of tensors are not checked here, but where a tensor is made or read.
"""

from collections.abc import Sequence

import onnx

from hexsim import budget
from hexsim.onnx_io.file.node import subgraphs


def require_counts(model: onnx.ModelProto, label: str) -> None:
    """Raise HexsimError, naming the file by `label`, if it has more parts than the budget."""
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
    """Counts so far; HexsimError as soon as one exceeds the budget.

    The nodes of a graph are first counted as a whole; their contents follow in `add_inner`.
    """

    def __init__(self, label: str) -> None:
        self._label = label
        self._nodes = self._names = 0
        self._pending: list[Sequence[onnx.NodeProto]] = []

    def add_graph(self, graph: onnx.GraphProto) -> None:
        """Count the nodes of a graph and the names of its tensors."""
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
        """Count the names and the subgraphs of all nodes that were added."""
        while self._pending:
            nodes = self._pending.pop()
            self.add_names(sum(len(n.input) + len(n.output) + len(n.attribute) for n in nodes))
            for node in nodes:
                for graph in subgraphs(node):
                    self.add_graph(graph)
