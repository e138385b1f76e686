"""Prepares the nodes of a file for the reader: unique names, and constants first."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property

import onnx

from hexsim.errors import HexsimError
from hexsim.onnx_io.file.node import OnnxNode, standard_domain
from hexsim.onnx_io.file.source import OnnxSource
from hexsim.texts.names import new_name


@dataclass(frozen=True)
class FileGraph:
    """Nodes of one graph of a file with unique names, and the ranks of its tensors."""

    graph: onnx.GraphProto
    nodes: tuple[OnnxNode, ...]
    opset: int

    @cached_property
    def producers(self) -> dict[str, OnnxNode]:
        """The node that writes each tensor."""
        return {name: node for node in self.nodes for name in node.outputs if name}

    @cached_property
    def readers(self) -> dict[str, list[OnnxNode]]:
        """The nodes that read each tensor, once per input that reads it."""
        readers: dict[str, list[OnnxNode]] = {}
        for node in self.nodes:
            for name in filter(None, node.inputs):
                readers.setdefault(name, []).append(node)
        return readers

    @cached_property
    def outputs(self) -> frozenset[str]:
        """Names of the graph's outputs."""
        return frozenset(value.name for value in self.graph.output)

    @cached_property
    def _ranks(self) -> dict[str, int]:
        values = (*self.graph.input, *self.graph.value_info, *self.graph.output)
        types = {v.name: v.type.tensor_type for v in values if v.type.HasField("tensor_type")}
        ranks = {n: len(kind.shape.dim) for n, kind in types.items() if kind.HasField("shape")}
        return {**ranks, **{tensor.name: len(tensor.dims) for tensor in self.graph.initializer}}

    def rank(self, name: str) -> int | None:
        """Return the number of axes of a tensor, None if the file does not state it."""
        producer = self.producers.get(name)
        if producer is not None and producer.standard == "Constant" and producer.has("value"):
            value = producer.tensor("value")
            return len(value.dims) if value is not None else None
        return self._ranks.get(name)


def named(
    protos: Iterable[onnx.NodeProto], source: OnnxSource, labels: set[str]
) -> tuple[OnnxNode, ...]:
    """Give nodes unique names, their own or that of their first output; add these to `labels`."""
    nodes = []
    for proto in protos:
        default = next((output for output in proto.output if output), proto.op_type)
        label = new_name(labels, proto.name or default)
        domain = standard_domain(proto.domain)
        if domain not in source.opsets:
            raise HexsimError(
                f"node '{label}' ({proto.op_type}): {source.label} does not say which version "
                f"of operator set '{domain or 'ai.onnx'}' it uses"
            )
        nodes.append(OnnxNode(proto, label, source.opsets[domain]))
    return tuple(nodes)


def constants_first(nodes: Sequence[OnnxNode]) -> list[OnnxNode]:
    """Put Constant nodes before all others, so that earlier nodes can use their values."""
    return sorted(nodes, key=lambda node: node.op_type != "Constant")
