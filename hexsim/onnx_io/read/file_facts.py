"""What is known about a graph of the file from its nodes alone, and what became of them."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass, field

from hexsim import budget
from hexsim.graph.ir import Shape
from hexsim.onnx_io.file.node import OnnxNode, outer_names

_LOOKS = 4
"""How often a node may be read on average."""


@dataclass
class FileFacts:
    """Facts about the nodes of a file, which do not depend on the network built from them.

    `elements` counts the elements of all constants of the file. `uses` counts how often each name
    is read, graph outputs included; `readers` are the nodes that read it, `writers` the node that
    writes it. `named` are the tensors and arrays before any node is expanded. `labels` are the
    names of nodes, `outputs` the outputs of the network. `fitting` is
    the only branch of an If that fits the given shapes, `visits` counts nodes that were read.
    """

    elements: int = 0
    uses: Counter[str] = field(default_factory=Counter)
    readers: dict[str, list[OnnxNode]] = field(default_factory=dict)
    writers: dict[str, OnnxNode] = field(default_factory=dict)
    named: set[str] = field(default_factory=set)
    labels: set[str] = field(default_factory=set)
    outputs: frozenset[str] = frozenset()
    fitting: dict[tuple[bytes, tuple[Shape, ...]], str] = field(default_factory=dict)
    visits: Counter[str] = field(default_factory=Counter)

    def for_trial(self) -> FileFacts:
        """Return the facts for reading a branch on trial; branches and visits are shared."""
        labels = set(self.labels)
        return FileFacts(self.elements, labels=labels, fitting=self.fitting, visits=self.visits)

    def expect(self, nodes: Iterable[OnnxNode], outputs: Iterable[str]) -> None:
        """Record nodes before they are read, and the names of the outputs of their graph."""
        for node in nodes:
            self.writers.update(dict.fromkeys(filter(None, node.outputs), node))
            for name in filter(None, (*node.inputs, *outer_names(node.proto))):
                self.uses[name] += 1
                self.readers.setdefault(name, []).append(node)
        self.uses.update(outputs)

    def forget(self, node: OnnxNode) -> None:
        """Remove the reads of a node that others replace."""
        for name in node.reads:
            self.uses[name] -= 1
            self.readers[name].remove(node)

    def visit(self, nodes: int) -> None:
        """Count nodes that are read, also on trial; HexsimError if they are too many.

        A branch may be read twice, and so may be the branches in it.
        """
        self.visits["nodes"] += nodes
        subject = "reading branches and loops within others, again and again,"
        budget.require(budget.NODES, self.visits["nodes"] // _LOOKS, subject)


@dataclass
class ImportRecord:
    """What became of the nodes of a file: the contents of the import report.

    `nodes` counts them; `expanded` and `folded` have the operators of nodes that were replaced by
    several and by constants, `removed` are nodes that quantise and were removed; `reasons` say why
    nodes are opaque, and `notes` are sentences on changes.
    """

    nodes: int = 0
    expanded: dict[str, str] = field(default_factory=dict)
    folded: dict[str, str] = field(default_factory=dict)
    removed: list[str] = field(default_factory=list)
    reasons: dict[str, str] = field(default_factory=dict)
    notes: list[str] = field(default_factory=list)
