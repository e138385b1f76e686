"""Loops of known trips are written out: the nodes of the body are read once for each trip.

These are a Loop whose trips and conditions are known before the network runs, and a Scan, whose
trips are the steps of its sequences. Nodes of the body that depend on neither the trip nor a state
are read once, so that all trips share their constants.

Left out: the Scan of opset 8, loops without a trip, and loops that would become more nodes than a
file may have. These and all other loops stay opaque if the shapes of their results are known.
"""

import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import NamedTuple

import numpy as np
import onnx
from onnx import helper, numpy_helper

from hexsim import budget
from hexsim.errors import HexsimError
from hexsim.graph.ir import Shape
from hexsim.layers.onnx_nodes import RANDOM
from hexsim.onnx_io.file.node import NotALayerError, OnnxNode, outer_names, positive_axis, subgraphs
from hexsim.onnx_io.read.importer import Importer
from hexsim.onnx_io.read.node_results import UnknownShapeError
from hexsim.records import dataclass, field

LOOPS = ("Loop", "Scan")
Read = Callable[[onnx.GraphProto, Importer], None]
"""Reads the nodes and initialisers of a graph into a network."""
_FIRST_SCAN = 9
"""Opset from which a Scan has no batch of its own."""
_AXES_ARE_INPUTS = 13
"""Opset from which Unsqueeze has its axes as an input."""


class _Rows(NamedTuple):
    """A tensor whose parts along an axis belong to the trips; `name` is "" for a result."""

    name: str
    axis: int
    backwards: bool


@dataclass(frozen=True)
class _Form:
    """A loop: its body takes `counters` (a trip's number and condition), states and rows.

    `trips` is infinite for a Loop that only its condition ends. `invariant` nodes of the body, of
    which `shared` has the new names, and `varying` ones are in order.
    """

    node: OnnxNode
    body: onnx.GraphProto
    counters: int
    trips: float
    states: Sequence[str]
    rows: Sequence[_Rows]
    results: Sequence[_Rows]
    invariant: list[onnx.NodeProto] = field(default_factory=list)
    varying: list[onnx.NodeProto] = field(default_factory=list)
    shared: dict[str, str] = field(default_factory=dict)

    @property
    def most_trips(self) -> int:
        """The trips that do not become more nodes than a file may have."""
        return budget.NODES.amount // max(1, _nodes(self.varying))

    @property
    def runs_on(self) -> bool:
        """True if no trip ends the loop before its last: the condition is passed on."""
        if not self.counters:
            return True
        source = self.body.output[0].name
        for proto in reversed(self.varying):
            if proto.op_type == "Identity" and source in proto.output:
                source = proto.input[0]
        return bool(source == self.body.input[1].name)


def write_out(node: OnnxNode, net: Importer, read: Read) -> bool:
    """Read a loop trip by trip; False, and nothing has changed, if its trips are not known."""
    form = _form(node, net)
    if form is None:
        return False
    trips = form.trips if form.runs_on else _counted(form, net, read)
    if not 1 <= trips <= form.most_trips:
        return False
    graph, states = _invariant(form, net), [*form.states]
    results = [list[str]() for _ in form.results]
    for number in range(int(trips)):
        _, states, rows = _trip(form, number, states, graph, net)
        for parts, row in zip(results, rows, strict=True):
            parts.append(row)
    for state, output in zip(states, node.outputs, strict=False):
        if output:
            graph.node.append(helper.make_node("Identity", [state], [output]))
    for rows_of, parts, output in zip(
        form.results, results, node.outputs[len(states) :], strict=False
    ):
        if output:
            _stack(rows_of, parts, output, graph, net, node.opset)
    net.record.notes.append(
        f"node '{node.name}' ({node.op_type}) is written out: its body is read {int(trips)} times"
    )
    read(graph, net)
    return True


def types(node: OnnxNode, net: Importer, read: Read) -> dict[str, tuple[Shape, str]]:
    """Return shapes and dtypes of the results of a loop that is not written out, as far as known.

    States keep their shapes if two trips do not change them.
    """
    form = _form(node, net, stated=False)
    trial = net.trial()
    if form is None or len(form.states) < len([name for name in node.outputs if name]):
        return {}
    graph, states = _invariant(form, trial), [*form.states]
    for number in (0, 1):
        _, states, _ = _trip(form, number, states, graph, trial)
    try:
        read(graph, trial)
    except HexsimError:
        return {}
    before, after = (
        [(trial.source_shape(name), trial.dtype(name)) for name in names]
        for names in (form.states, states)
    )
    if before != after:
        return {}
    return {name: kind for name, kind in zip(node.outputs, after, strict=False) if name}


def _form(node: OnnxNode, net: Importer, *, stated: bool = True) -> _Form | None:
    """Return the form of a loop; None for one whose trips are not known, unless not `stated`."""
    body = node.graph("body")
    if node.op_type == "Loop":
        trips = _number(node.input(0), net, math.inf)
        if stated and (trips is None or not _number(node.input(1), net, 1)):
            return None
        states, rows = node.inputs[2:], list[_Rows]()
        results = [_Rows("", 0, backwards=False)] * (len(node.outputs) - len(node.inputs) + 2)
        form = _Form(node, body, 2, trips or math.inf, states, rows, results)
    else:
        count = node.integer("num_scan_inputs", 0)
        states, sequences = node.inputs[:-count], node.inputs[len(node.inputs) - count :]
        if node.opset < _FIRST_SCAN or not 1 <= count <= len(node.inputs):
            return None
        rows = [
            part._replace(axis=positive_axis(part.axis, len(net.source_shape(part.name))))
            for part in _scanned(node, "input", sequences)
        ]
        results = _scanned(node, "output", [""] * (len(node.outputs) - len(states)))
        lengths = {net.source_shape(part.name)[part.axis] for part in rows}
        form = _Form(node, body, 0, lengths.pop(), states, rows, results)
        if lengths:
            return None
    ends = len(body.input) - form.counters - len(form.states), len(body.output) - len(form.states)
    if ends != (len(form.rows), len(form.results) + (form.counters > 0)):
        return None
    return _divided(form, net)


def _number(name: str, net: Importer, default: float) -> float | None:
    """Return the known number `name`, `default` if it is omitted, None if it is not known."""
    if not name:
        return default
    try:
        return net.number(name)
    except NotALayerError:
        return None


def _scanned(node: OnnxNode, side: str, names: Sequence[str]) -> list[_Rows]:
    """Return the rows of a Scan on one side, with the axes and directions that it states."""
    axes = node.integers(f"scan_{side}_axes") or (0,) * len(names)
    ways = node.integers(f"scan_{side}_directions") or (0,) * len(names)
    return [_Rows(*row) for row in zip(names, axes, map(bool, ways), strict=False)]


def _divided(form: _Form, net: Importer) -> _Form:
    changed = {value.name for value in form.body.input}
    for proto in form.body.node:
        reads = {*proto.input, *outer_names(proto)}
        if reads & changed or proto.op_type in RANDOM:
            changed.update(filter(None, proto.output))
            form.varying.append(proto)
        else:
            form.invariant.append(proto)
    names = [tensor.name for tensor in form.body.initializer]
    names += [name for proto in form.invariant for name in proto.output if name]
    form.shared.update({name: net.unique(f"{form.node.name}.{name}") for name in names})
    return form


def _invariant(form: _Form, net: Importer) -> onnx.GraphProto:
    """Return a graph with what all trips share."""
    graph = onnx.GraphProto()
    graph.initializer.extend(form.body.initializer)
    for tensor in graph.initializer:
        tensor.name = form.shared[tensor.name]
    prefix = f"{form.node.name}."
    graph.node.extend(_renamed(proto, form.shared, prefix, net) for proto in form.invariant)
    return graph


def _trip(
    form: _Form, number: int, states: Sequence[str], graph: onnx.GraphProto, net: Importer
) -> tuple[str, list[str], list[str]]:
    """Add a trip to `graph`; return its condition ("" for a Scan), new states, and rows."""
    prefix = f"{form.node.name}.{number}."
    counters = [net.unique(f"{prefix}{name}") for name in ("trip", "condition")[: form.counters]]
    for name, value in zip(counters, (np.int64(number), np.bool_(True)), strict=False):
        graph.initializer.append(numpy_helper.from_array(np.asarray(value), name))
    taken = [_row(part, number, prefix, graph, net) for part in form.rows]
    inputs = (value.name for value in form.body.input)
    names = form.shared | dict(zip(inputs, (*counters, *states, *taken), strict=True))
    for proto in form.varying:
        names |= {name: net.unique(f"{prefix}{name}") for name in proto.output if name}
        graph.node.append(_renamed(proto, names, prefix, net))
    outputs = [names.get(value.name, value.name) for value in form.body.output]
    condition = outputs.pop(0) if form.counters else ""
    return condition, outputs[: len(states)], outputs[len(states) :]


def _row(part: _Rows, number: int, prefix: str, graph: onnx.GraphProto, net: Importer) -> str:
    length = net.source_shape(part.name)[part.axis]
    place = length - 1 - number if part.backwards else number
    position, row = (net.unique(f"{prefix}{part.name}.{kind}") for kind in ("position", "row"))
    graph.initializer.append(numpy_helper.from_array(np.array(place), position))
    graph.node.append(helper.make_node("Gather", [part.name, position], [row], axis=part.axis))
    return row


def _stack(
    rows: _Rows,
    parts: Sequence[str],
    output: str,
    graph: onnx.GraphProto,
    net: Importer,
    opset: int,
) -> None:
    axes = net.unique(f"{output}.axes")
    as_input = opset >= _AXES_ARE_INPUTS
    if as_input:
        graph.initializer.append(numpy_helper.from_array(np.array([rows.axis]), axes))
    raised = [net.unique(f"{part}.raised") for part in parts]
    for part, name in zip(parts, raised, strict=True):
        raise_ = helper.make_node("Unsqueeze", [part, axes] if as_input else [part], [name])
        if not as_input:
            raise_.attribute.append(helper.make_attribute("axes", [rows.axis]))
        graph.node.append(raise_)
    order = raised[::-1] if rows.backwards else raised
    graph.node.append(helper.make_node("Concat", order, [output], axis=rows.axis))


def _counted(form: _Form, net: Importer, read: Read) -> int:
    """Return how many trips a loop makes whose conditions are known, 0 if they are not."""
    trial, states = net.trial(), [*form.states]
    graph = _invariant(form, trial)
    for number in range(int(min(form.trips, form.most_trips + 1))):
        condition, states, _ = _trip(form, number, states, graph, trial)
        try:
            read(graph, trial)
            goes_on = trial.number(condition)
        except (UnknownShapeError, NotALayerError):
            return 0
        if number + 1 == form.trips or not goes_on:
            return number + 1
        graph = onnx.GraphProto()
    return 0


def _nodes(protos: Iterable[onnx.NodeProto]) -> int:
    return sum(1 + sum(_nodes(graph.node) for graph in subgraphs(proto)) for proto in protos)


def _defined(graph: onnx.GraphProto) -> list[str]:
    written = [name for node in graph.node for name in node.output if name]
    return [*(value.name for value in (*graph.input, *graph.initializer)), *written]


def _renamed(
    proto: onnx.NodeProto, names: Mapping[str, str], prefix: str, net: Importer
) -> onnx.NodeProto:
    """Return a node with other names of tensors, also in its graphs, and a prefix to its own."""
    copy = onnx.NodeProto()
    copy.CopyFrom(proto)
    copy.name = f"{prefix}{proto.name}" if proto.name else ""
    copy.input[:] = [names.get(name, name) for name in proto.input]
    copy.output[:] = [names.get(name, name) for name in proto.output]
    for graph in subgraphs(copy):
        inner = {**names, **{name: net.unique(f"{prefix}{name}") for name in _defined(graph)}}
        for value in (*graph.input, *graph.output, *graph.value_info, *graph.initializer):
            value.name = inner.get(value.name, value.name)
        nodes = [_renamed(node, inner, prefix, net) for node in graph.node]
        del graph.node[:]
        graph.node.extend(nodes)
    return copy
