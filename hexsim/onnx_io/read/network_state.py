"""The network while it is built: tensors, constants and layers so far.

What is known about a graph of the file from its nodes alone, and what became of them.

Tensors whose sizes depend on values, as hexsim.onnx_io.read.dynamic_shapes collects them.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from copy import copy

from hexsim import budget
from hexsim.graph.ir import Constant, Layer, Shape, Tensor
from hexsim.graph.network_ends import CodedEnd
from hexsim.onnx_io.file.axis_order import Order
from hexsim.onnx_io.file.known import Known
from hexsim.onnx_io.file.node import OnnxNode, outer_names
from hexsim.onnx_io.read.node_codes import NodeCodes
from hexsim.onnx_io.read.node_results import NodeInput
from hexsim.onnx_io.read.operator_work import OperatorWork
from hexsim.records import dataclass, field, fields


@dataclass(eq=False)
class NetworkState:
    """Tensors, known arrays, constants and layers so far.

    `codes` are the encodings that nodes of the file state, by tensor or array. `origins` maps
    arrays and constants to the arrays of the file that they rearrange. `stripped` are integers that
    were replaced: their float tensor and encoding. `moved` are the encodings of integers that are
    floats here until they are dequantised, `moved_types` their types in the file. `coded_ends` are
    inputs and outputs of the network that are codes in the file, `judged` the inputs that were
    checked for that.
    """

    known: dict[str, Known]
    tensors: dict[str, Tensor] = field(default_factory=dict)
    codes: dict[str, NodeCodes] = field(default_factory=dict)
    origins: dict[str, str] = field(default_factory=dict)
    stripped: dict[str, tuple[str, NodeCodes]] = field(default_factory=dict)
    moved: dict[str, NodeCodes] = field(default_factory=dict)
    moved_types: dict[str, str] = field(default_factory=dict)
    coded_ends: dict[str, CodedEnd] = field(default_factory=dict)
    judged: set[str] = field(default_factory=set)
    _producers: dict[str, Layer] = field(default_factory=dict)
    _layers: list[Layer] = field(default_factory=list)
    _constants: dict[str, Constant] = field(default_factory=dict)
    _forms: dict[tuple[str, str], str] = field(default_factory=dict)
    _reordered: dict[tuple[str, Order], str] = field(default_factory=dict)
    _aliases: dict[str, tuple[str, ...]] = field(default_factory=dict)
    _names: set[str] = field(default_factory=set)
    _computed: int = 0

    def snapshot(self) -> NetworkState:
        """Return a copy that does not change with this one."""
        return NetworkState(*(copy(getattr(self, item.name)) for item in fields(NetworkState)))

    def restore(self, state: NetworkState) -> None:
        """Return to the contents of `state`, which must not be used afterwards."""
        for item in fields(NetworkState):
            setattr(self, item.name, getattr(state, item.name))


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


@dataclass(frozen=True)
class Unsized:
    """A tensor of dynamic part number `part`, with most and, if known, with few elements."""

    part: int
    most: NodeInput
    few: NodeInput | None

    @property
    def varies(self) -> tuple[int, ...]:
        """Axes whose size depends on values."""
        shape, other = self.most.shape, None if self.few is None else self.few.shape
        if other is None or len(other) != len(shape):
            return tuple(range(len(shape)))
        return tuple(axis for axis, size in enumerate(shape) if size != other[axis])


@dataclass
class DynamicShapes:
    """The dynamic parts of one graph: their nodes, the work of each node, and their tensors.

    Unless `allowed`, such nodes are refused.
    """

    allowed: bool = True
    nodes: list[list[OnnxNode]] = field(default_factory=list)
    work: dict[str, OperatorWork] = field(default_factory=dict)
    tensors: dict[str, Unsized] = field(default_factory=dict)
