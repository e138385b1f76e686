"""Ranges of weights that FakeQuant nodes of a TensorFlow graph state.

tf2onnx computes such a node while it converts, since its input is constant, or fails: in both cases
the range is lost. So the nodes are read before, by a schema of our own. In a frozen graph each
becomes a constant of rounded weights, and the ONNX model gets a pair of nodes that quantise and
dequantise it. The range belongs to the weight that the layer of the same name reads, if all its
values are multiples of the step. They are not if tf2onnx multiplied a batch norm into them; then a
warning names them.

Left out, with a warning that names the nodes: variables, whose ranges are in other files, and the
functions of a SavedModel, whose weights are variables.
"""

import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import cache
from typing import Any

import numpy as np
import numpy.typing as npt
import onnx
from google.protobuf.message import DecodeError
from onnx import numpy_helper

from hexsim import budget
from hexsim.errors import warn_caller
from hexsim.frameworks.messages import Message, message_classes
from hexsim.records import dataclass
from hexsim.texts.text import new_name, shortened

Array = npt.NDArray[Any]

_SCHEMA = {
    "Graph": "node:Node* library=2:Library",
    "Library": "function:Function*",
    "Function": "signature:Signature node=3:Node*",
    "Signature": "input=2:Argument*",
    "Argument": "name:text type=3:int32",
    "MetaGraph": "graph_def=2:Graph",
    "SavedModel": "meta_graphs=2:MetaGraph*",
    "Node": "name:text op:text input:text* attr=5:Entry*",
    "Entry": "key:text value:Value",
    "Value": "i=3:int64 b=5:flag type=6:int32 tensor=8:Tensor",
    "Tensor": "dtype=1:int32 shape=2:Shape content=4:bytes reals=5:float* numbers=7:int32*",
    "Shape": "dim=2:Dim*",
    "Dim": "size:int64",
}
"""The fields of TensorFlow's messages that are read here, by its published numbers."""

_FAKE = "FakeQuantWithMinMaxVars", "FakeQuantWithMinMaxVarsPerChannel", "FakeQuantWithMinMaxArgs"
_REAL, _WHOLE, _VARIABLE = 1, 3, 20
"""TensorFlow's numbers of float32, int32 and a variable's handle."""
_COMPUTED: Mapping[str, Callable[..., Array]] = {
    "Identity": lambda x: x,
    "Add": np.add,
    "AddV2": np.add,
    "Sub": np.subtract,
    "Mul": np.multiply,
    "RealDiv": np.divide,
    "Rsqrt": lambda x: 1 / np.sqrt(x),
    "Sqrt": np.sqrt,
    "Reshape": lambda x, shape: np.reshape(x, shape.astype(int)),
}
"""What folds a batch norm into weights before they are quantised."""
_DEEPEST = 20
"""Most such operations one after another (ours)."""
_PASSED = "Identity", "BiasAdd", "Add", "AddV2", "FusedBatchNorm", "FusedBatchNormV3"
WEIGHTED = "Conv", "ConvTranspose", "MatMul", "Gemm"
_BEHIND = 4
"""Operations from a weight on by whose names a layer may be called, BiasAdd among them."""
_OFF_GRID = 1e-2
"""Steps by which a weight may be off its code: those of float32 numbers of 16 bits (ours)."""


@dataclass(frozen=True)
class WeightRange:
    """The grid of a weight: real = scale * (code - zero) by channel, codes from `lowest` on.

    `readers` are the names of the operations that read it, and of those right behind them.
    """

    name: str
    bits: int
    lowest: int
    scales: npt.NDArray[np.float32]
    zeros: npt.NDArray[np.int64]
    readers: tuple[str, ...]

    def rounded(self, weights: Array) -> Array:
        """Return weights, channels last, as the node rounds them."""
        codes = np.floor(weights / self.scales + self.zeros + np.float32(0.5))
        most = (1 << self.bits) - 1
        rounded: Array = (np.clip(codes, self.lowest, most) - self.zeros) * self.scales
        return rounded.astype(np.float32)

    def axis(self, weight: npt.NDArray[np.float32]) -> int | None:
        """Return the axis of the channels (0 for one range); None if a value has no code."""
        for axis in range(weight.ndim) if len(self.scales) > 1 else (0,):
            if len(self.scales) in (1, weight.shape[axis]):
                rows = np.moveaxis(weight, axis, -1).astype(np.float64)
                codes = rows / self.scales + self.zeros
                inside = (codes > -0.5) & (codes < (1 << self.bits) - 0.5)
                if bool((inside & (np.abs(codes - np.rint(codes)) < _OFF_GRID)).all()):
                    return axis
        return None


@cache
def _classes() -> dict[str, type[Message]]:
    return message_classes("hexsim.graphdef", _SCHEMA)


def graph_of(kind: str, data: bytes) -> Message:
    """Return the graph in a file of `kind`, empty if the file is damaged, which tf2onnx reports."""
    message = _classes()[kind]()
    try:
        message.ParseFromString(data)
    except DecodeError:
        return _classes()["Graph"]()
    match kind:
        case "SavedModel":
            return (
                message.meta_graphs[0].graph_def if message.meta_graphs else _classes()["Graph"]()
            )
        case "MetaGraph":
            return message.graph_def
    return message


@dataclass(frozen=True)
class WeightRanges:
    """The ranges that were read of a graph, and the nodes whose range is lost."""

    grids: tuple[WeightRange, ...]
    lost: tuple[str, ...]

    @classmethod
    def taken_from(cls, kind: str, data: bytes) -> tuple["WeightRanges", bytes]:
        """Return the ranges in a file of `kind`, and what to convert.

        A kind is Graph, MetaGraph or SavedModel. In a Graph, rounded constants stand for the nodes;
        other files stay as they are.
        """
        graph = graph_of(kind, data)
        nodes = {node.name: node for node in graph.node}
        grids, lost = list[WeightRange](), list[str]()
        for node, grid in _ranges(graph):
            weights = _value(sources(node)[0], nodes) if grid and kind == "Graph" else None
            if grid is None or weights is None or weights.size < 2:
                lost.append(node.name)
                continue
            grids.append(grid)
            _make_constant(node, grid.rounded(weights))
        for function in graph.library.function:
            own = [each.name for each in function.signature.input if each.type != _VARIABLE]
            lost += (node.name for node, _ in _ranges(function, own))
        lost = list(dict.fromkeys(lost))
        return cls(tuple(grids), tuple(lost)), graph.SerializeToString() if grids else data

    def put_into(self, model: onnx.ModelProto) -> onnx.ModelProto:
        """Return `model`, converted of that, with nodes that quantise; warn of what is lost."""
        changed, lost = onnx.ModelProto(), [*self.lost]
        changed.CopyFrom(model)
        weighted, nodes = _weighted(changed.graph), list(changed.graph.node)
        used = {name for node in nodes for name in (*node.input, *node.output)}
        before: dict[int, Sequence[onnx.NodeProto]] = {}
        for grid in self.grids:
            place = next((weighted[name] for name in grid.readers if name in weighted), -1)
            weight = nodes[place].input[1] if place >= 0 else ""
            pair = _pair(grid, weight, changed.graph, used) if weight else None
            if pair is None:
                lost.append(grid.name)
                continue
            nodes[place].input[1] = pair[-1].output[0]
            before[place] = pair
        del changed.graph.node[:]
        for index, node in enumerate(nodes):
            changed.graph.node.extend((*before.get(index, ()), node))
        if lost:
            names = shortened(", ".join(lost), 200)
            warn_caller(
                f"the ranges of these FakeQuant nodes over weights are not taken over: {names}; "
                "the quantiser chooses ranges of its own; fold batch norms before the nodes and "
                "freeze the graph, or give the ranges as overrides"
            )
        return changed


def _weighted(graph: onnx.GraphProto) -> dict[str, int]:
    """Return the places of layers with a constant weight, by their names and outputs' names."""
    weights = {tensor.name for tensor in graph.initializer}
    places = dict[str, int]()
    for index, node in enumerate(graph.node):
        if node.op_type in WEIGHTED and node.input[1] in weights:
            places |= {node.name: index, node.output[0].removesuffix(":0"): index}
    return places


def _ranges(
    graph: Message, inputs: Sequence[str] = ()
) -> Iterator[tuple[Message, WeightRange | None]]:
    """Yield each FakeQuant node over what no input reaches, with its range if it can be read."""
    nodes = {node.name: node for node in graph.node}
    readers: dict[str, list[Message]] = {}
    for node in graph.node:
        for name in sources(node):
            readers.setdefault(name, []).append(node)
    waiting = [node.name for node in graph.node if node.op.startswith("Placeholder")]
    waiting += inputs
    varies = set(waiting)
    while waiting:
        others = {node.name for node in readers.get(waiting.pop(), ())} - varies
        varies |= others
        waiting += others
    for node in graph.node:
        if node.op in _FAKE and node.name not in varies:
            yield node, _range(node, nodes, _named(node.name, readers))


def _named(name: str, readers: Mapping[str, Sequence[Message]]) -> tuple[str, ...]:
    """Return the names of the operations that read a weight, and of those right behind them."""
    first = list(readers.get(name, ()))
    names = list[str]()
    for _ in range(_BEHIND):
        names += [node.name for node in first]
        first = [
            after
            for node in first
            for after in readers.get(node.name, ())
            if len(readers[node.name]) == 1 and (after.op in _PASSED or node.op == "Identity")
        ]
    return tuple(names)


def sources(node: Message) -> list[str]:
    """Return the names of the operations whose results a node takes."""
    return [name.removeprefix("^").split(":")[0] for name in node.input]


def _range(
    node: Message, nodes: Mapping[str, Message], readers: tuple[str, ...]
) -> WeightRange | None:
    words = {entry.key: entry.value for entry in node.attr}
    bits = words["num_bits"].i if "num_bits" in words else 8
    lowest = int(words["narrow_range"].b) if "narrow_range" in words else 0
    limits = [_value(name, nodes) for name in sources(node)[1:3]]
    if bits not in (4, 8, 16) or len(limits) != 2 or any(limit is None for limit in limits):
        return None
    low, high = (limit.reshape(-1) for limit in limits if limit is not None)
    if low.shape != high.shape or not np.all((low <= 0) & (high >= 0) & (low < high)):
        return None
    scales = (high - low) / np.float32((1 << bits) - 1 - lowest)
    top = (1 << bits) - 1
    zeros = np.clip(np.floor(lowest - low / scales + np.float32(0.5)), lowest, top)
    return WeightRange(
        node.name, bits, lowest, scales.astype(np.float32), zeros.astype(np.int64), readers
    )


def _value(name: str, nodes: Mapping[str, Message], depth: int = 0) -> Array | None:
    """Return the numbers of a constant, or of what is computed of constants; None of another."""
    node = nodes.get(name)
    if node is None or depth > _DEEPEST:
        return None
    if node.op == "Const":
        return _tensor(
            next((entry.value.tensor for entry in node.attr if entry.key == "value"), None)
        )
    compute = _COMPUTED.get(node.op)
    operands = [_value(source, nodes, depth + 1) for source in sources(node)] if compute else []
    if compute is None or not operands or any(operand is None for operand in operands):
        return None
    try:
        with np.errstate(all="ignore"):
            return compute(*operands)
    except (TypeError, ValueError):  # as many operands, or shapes, as it does not take
        return None


def _tensor(tensor: Message | None) -> Array | None:
    if tensor is None or tensor.dtype not in (_REAL, _WHOLE):
        return None
    kind = "<f4" if tensor.dtype == _REAL else "<i4"
    shape = [dim.size for dim in tensor.shape.dim]
    given = tensor.reals if tensor.dtype == _REAL else tensor.numbers
    values = np.array(given, kind)
    if tensor.content and len(tensor.content) % 4 == 0:
        values = np.frombuffer(tensor.content, kind)
    if not values.size or min(shape, default=1) < 0 or values.size not in (1, math.prod(shape)):
        return None
    budget.require(budget.VALUES, math.prod(shape), "a constant of the graph")
    return np.broadcast_to(values.reshape(-1), math.prod(shape)).reshape(shape)


def _make_constant(node: Message, weights: Array) -> None:
    """Make a node the constant of `weights`."""
    node.op = "Const"
    del node.input[:], node.attr[:]
    node.attr.add(key="dtype").value.type = _REAL
    tensor = node.attr.add(key="value").value.tensor
    tensor.dtype, tensor.content = _REAL, weights.astype("<f4").tobytes()
    for size in weights.shape:
        tensor.shape.dim.add(size=size)


def _pair(
    grid: WeightRange, weight: str, graph: onnx.GraphProto, used: set[str]
) -> Sequence[onnx.NodeProto] | None:
    """Return the nodes, whose constants are added; None if the weight is not of this range.

    Codes around zero are signed.
    """
    axis = grid.axis(next(numpy_helper.to_array(t) for t in graph.initializer if t.name == weight))
    if axis is None:
        return None
    middle = 1 << (grid.bits - 1)
    signed = bool((grid.zeros == middle).all())
    kind = getattr(onnx.TensorProto, f"{'' if signed else 'U'}INT{grid.bits}")
    zeros = grid.zeros - (middle if signed else 0)
    scale, zero, codes, real = (
        new_name(used, f"{weight}_{part}") for part in ("scale", "zero", "codes", "dequantized")
    )
    shape = [len(zeros)] if len(zeros) > 1 else []
    graph.initializer.append(numpy_helper.from_array(grid.scales.reshape(shape), scale))
    graph.initializer.append(onnx.helper.make_tensor(zero, kind, shape, zeros))
    how: dict[str, Any] = {"axis": axis} if shape else {}
    return [
        onnx.helper.make_node("QuantizeLinear", [weight, scale, zero], [codes], codes, **how),
        onnx.helper.make_node("DequantizeLinear", [codes, scale, zero], [real], real, **how),
    ]
