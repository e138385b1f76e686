"""LSTM, GRU and RNN with constant weights and their usual activations.

An LSTM of one step whose cell state somebody reads is written in simpler layers. Left out: that
state after several steps, peepholes, lengths of single sequences, clips, other activations, and
batch-first layout.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from hexsim.errors import InvalidDataError
from hexsim.graph.ir import Shape
from hexsim.layers import AxisSlice, Concat, Recurrent, StridedSlice
from hexsim.layers.recurrent import GATES, Cell, Direction, State
from hexsim.onnx_io.axis_order import identity
from hexsim.onnx_io.importer import Importer
from hexsim.onnx_io.known import Array, Known
from hexsim.onnx_io.node import Node, NotALayerError
from hexsim.onnx_io.operators._lstm_step import LstmStep

_ACTIVATIONS: dict[Cell, tuple[str, ...]] = {
    "lstm": ("sigmoid", "tanh", "tanh"),
    "gru": ("sigmoid", "tanh"),
    "rnn": ("tanh",),
}
_DIRECTIONS: dict[str, Direction] = {
    "forward": "forward",
    "reverse": "reverse",
    "bidirectional": "bidirectional",
}


def recurrent(cell: Cell) -> Callable[[Node, Importer], None]:
    """The operator becomes Recurrent; its last hidden states are slices of all of them."""

    def translate(node: Node, net: Importer) -> None:
        data = net.tensor(node.input(0), rank=3)
        weight, recurrence = (net.array(node.input(at), rank=3) for at in (1, 2))
        direction = _direction(node)
        directions, rows, inputs = weight.shape
        hidden = recurrence.shape[2]
        steps, batch, size = data.source_shape
        if (
            (size, rows) != (inputs, GATES[cell] * hidden)
            or recurrence.shape != (directions, rows, hidden)
            or directions != (2 if direction == "bidirectional" else 1)
        ):
            raise InvalidDataError(
                f"weights {list(weight.shape)} and {list(recurrence.shape)} do not fit "
                f"{size} inputs"
            )
        _require_usual_form(node, net, cell, steps)
        shows_cell = len(node.outputs) > 2 and net.uses[node.outputs[2]] > 0
        if shows_cell and (steps, directions) != (1, 1):
            raise NotALayerError("the last cell state of several steps is read")
        with net.attempt():
            columns = directions * rows
            initial, states = _states(node, net, (directions, batch, hidden))
            if shows_cell:
                given = dict(zip(initial, states, strict=True))
                LstmStep(node, net).add(given.get("hidden"), given.get("cell"))
                return
            every = node.outputs[0] or net.unique(f"{node.name}.all")
            layer = Recurrent(
                name=node.name,
                inputs=(net.source_order(data.name), *states),
                outputs=(every,),
                cell=cell,
                direction=direction,
                hidden=hidden,
                initial=initial,
                weight=net.constant(weight.name, "columns", (inputs, columns), _by_columns),
                recurrence=net.constant(recurrence.name, "columns", (hidden, columns), _by_columns),
                bias=_bias(node, net, directions, rows),
                resets_late=bool(node.integer("linear_before_reset", 0)),
            )
            net.add(layer, identity(4))
            if len(node.outputs) > 1 and net.uses[node.outputs[1]]:
                _last(node, net, every, node.outputs[1], direction)

    return translate


def _direction(node: Node) -> Direction:
    found = node.text("direction", "forward")
    if found not in _DIRECTIONS:
        raise InvalidDataError(f"attribute direction has the unknown value '{found}'")
    return _DIRECTIONS[found]


def _require_usual_form(node: Node, net: Importer, cell: Cell, steps: int) -> None:
    """Raise NotALayerError for a form that is left out."""
    given = tuple(one.decode("utf-8", "replace").lower() for one in node.strings("activations"))
    usual = _ACTIVATIONS[cell]
    if given not in ((), usual, usual * 2):
        raise NotALayerError("other activations")
    if any(node.has(name) for name in ("clip", "activation_alpha", "activation_beta")):
        raise NotALayerError("clips, or scales its activations")
    if node.integer("layout", 0) or node.integer("input_forget", 0):
        raise NotALayerError("batch first, or input and forget gates are one")
    lengths = node.input(4)
    if lengths and (net.array(lengths).read() != steps).any():
        raise NotALayerError("sequences differ in length")
    if node.input(7):
        raise NotALayerError("has peepholes")


def _by_columns(array: Array) -> Array:
    """Directions x rows x inputs becomes inputs x columns."""
    return array.transpose(2, 0, 1).reshape(array.shape[2], -1)


def _bias(node: Node, net: Importer, directions: int, rows: int) -> str | None:
    if not node.input(3):
        return None
    known = net.array(node.input(3))
    if known.shape != (directions, 2 * rows):
        raise InvalidDataError(f"bias {list(known.shape)} does not fit {rows} gates")

    def stacked(array: Array) -> Array:
        return array.reshape(directions, 2, rows).transpose(1, 0, 2).reshape(2, -1)

    return net.constant(known.name, "columns", (2, directions * rows), stacked)


def _states(node: Node, net: Importer, shape: Shape) -> tuple[tuple[State, ...], list[str]]:
    """Which initial states there are, and their names; those that are zero are none."""
    kinds: list[State] = []
    names = []
    given: tuple[tuple[State, str], ...] = (("hidden", node.input(5)), ("cell", node.input(6)))
    for kind, name in given:
        if not name or (name in net.known and _is_zero(net.known[name])):
            continue
        if net.source_shape(name) != shape:
            raise InvalidDataError(
                f"initial state {list(net.source_shape(name))} is not {list(shape)}"
            )
        kinds.append(kind)
        names.append(net.as_is(name) if name in net.known else net.source_order(name))
    return tuple(kinds), names


def _is_zero(known: Known) -> bool:
    return not np.any(known.read())


def _last(node: Node, net: Importer, every: str, output: str, direction: Direction) -> None:
    """Add the state after the last step of each direction: directions x batch x hidden."""
    steps, directions, batch, hidden = net.source_shape(every)
    parts = []
    for number in range(directions):
        step = 0 if direction == "reverse" or number else steps - 1
        cut = (AxisSlice(0, step, step + 1, 1), AxisSlice(1, number, number + 1, 1))
        label = net.unique(f"{node.name}.last{number}")
        layer = StridedSlice(name=label, inputs=(every,), outputs=(label,), parts=cut)
        net.add(layer, identity(4))
        parts.append(label)
    if len(parts) > 1:
        label = net.unique(f"{node.name}.last")
        both = Concat(name=label, inputs=tuple(parts), outputs=(label,), axis=1)
        net.add(both, identity(4))
        parts = [label]
    shape = (directions, batch, hidden)
    net.reshape(net.unique(f"{node.name}.state"), parts[0], shape, output)


TRANSLATORS = {"GRU": recurrent("gru"), "LSTM": recurrent("lstm"), "RNN": recurrent("rnn")}
