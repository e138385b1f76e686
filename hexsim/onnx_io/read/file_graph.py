"""Prepares the nodes of a file for the reader: unique names, and constants first.

Ends a graph at tensors inside it; the application computes the rest.

Detectors end in operators whose results have no size before the network runs. A phone's runtime
does not support them either, so networks are usually cut before these operators.
"""

from collections.abc import Iterable, Sequence
from functools import cached_property

import onnx

from hexsim.errors import HexsimError, unknown
from hexsim.onnx_io.file.node import OnnxNode, outer_names, standard_domain
from hexsim.onnx_io.file.source import OnnxSource
from hexsim.records import dataclass, replace
from hexsim.texts.text import new_name


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

    def require_order(self) -> None:
        """Raise HexsimError if a node reads what it or a later node writes."""
        written: set[str] = set()
        for node in self.nodes:
            for name in node.reads:
                if name in self.producers and name not in written:
                    raise node.error(
                        f"reads '{name}', which only a later node writes; the nodes are not "
                        "sorted, or form a cycle"
                    )
            written.update(node.outputs)

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
