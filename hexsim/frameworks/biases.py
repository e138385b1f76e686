"""The names of layers with a bias: those of the operations in TensorFlow that have the weights.

tf2onnx joins a convolution with the BiasAdd behind it and keeps the name of the latter, or makes up
one. The layer is called as its convolution, e.g. `first/Conv2D`.

Left out: operations of a function that a SavedModel calls twice, whose names are the same.
"""

from collections.abc import Iterator, Mapping, Sequence

import onnx

from hexsim.frameworks.fake_quant import WEIGHTED, graph_of, sources
from hexsim.frameworks.messages import Message

_BEFORE = frozenset({"Identity", "Reshape", "Squeeze", "BatchToSpaceND"})


def with_operations(model: onnx.ModelProto, kind: str, data: bytes) -> onnx.ModelProto:
    """Return `model`, converted of a file of `kind`, with layers named as their operations."""
    graph = graph_of(kind, data)
    functions = (function.node for function in graph.library.function)
    names = dict(pair for nodes in (graph.node, *functions) for pair in _biased(nodes))
    named = onnx.ModelProto()
    named.CopyFrom(model)
    used = {node.name for node in named.graph.node}
    for node in named.graph.node:
        name = _operation(node.output[0].removesuffix(":0"), names)
        if node.op_type in WEIGHTED and name and name not in used:
            node.name = name
            used.add(name)
    return named


def _biased(nodes: Sequence[Message]) -> Iterator[tuple[str, str]]:
    """Yield the name of each BiasAdd with that of the operation whose result it takes."""
    of_name = {node.name: node for node in nodes}
    for node in nodes:
        before: Message | None = node if node.op == "BiasAdd" else None
        for _ in nodes:  # not for ever, if they go in a circle
            if before is not None and (before is node or before.op in _BEFORE):
                before = of_name.get(next(iter(sources(before)), ""))
        if before is not None and before is not node and before.op not in _BEFORE:
            yield node.name, before.name


def _operation(output: str, names: Mapping[str, str]) -> str:
    """Return the operation of an output; names in functions stand behind those of their calls."""
    own = output
    while own and own not in names:
        own = own.partition("/")[2]
    return output.removesuffix(own) + names[own] if own else ""
