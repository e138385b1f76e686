"""LSTM, GRU and RNN with constant weights and their usual activations.

An LSTM whose last cell state is read becomes simpler layers, step by step. Of sequences of
different known lengths, neighbours in the batch with the same length are sliced out, run by a
separate layer, and padded with the zeros that the result has after the end of a sequence. Not
supported: lengths unknown before the network runs, peepholes, clips, other activations, and
batch-first layout.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np

from hexsim.errors import InvalidDataError, spelled
from hexsim.graph.ir import Shape
from hexsim.layers import AxisSlice, Concat, Pad, Recurrent, StridedSlice
from hexsim.layers.recurrent import GATES, Cell, Direction, State
from hexsim.onnx_io.file.axis_order import identity
from hexsim.onnx_io.file.known import Array
from hexsim.onnx_io.file.node import NotALayerError, OnnxNode
from hexsim.onnx_io.read.importer import Importer
from hexsim.onnx_io.read.operators._lstm_steps import LstmSteps, cut
from hexsim.records import dataclass


@dataclass(frozen=True)
class Block:
    """The sequences `first` to `stop` of the batch, which all have `length` steps."""

    first: int
    stop: int
    length: int


def blocks(node: OnnxNode, net: Importer, steps: int, batch: int) -> list[Block]:
    """Return the blocks of equal length; one block of all steps if the node states no lengths.

    NotALayerError if the lengths are not known, or one is 0.
    """
    name = node.input(4)
    if not name:
        return [Block(0, batch, steps)]
    if name not in net.known:
        raise NotALayerError(
            f"the lengths of its sequences, '{name}', are not known before the network runs; if "
            f"they depend on an input alone, give that a value ({spelled('input_values')})"
        )
    lengths = net.whole_numbers(name)
    if len(lengths) != batch or not all(0 <= length <= steps for length in lengths):
        raise InvalidDataError(
            f"the lengths '{name}' are {list(lengths)[:8]}; expected {batch} from 0 to {steps}"
        )
    if 0 in lengths:
        raise NotALayerError(f"the lengths '{name}' of its sequences say that one has no steps")
    starts = [index for index in range(batch) if index == 0 or lengths[index] != lengths[index - 1]]
    stops = [*starts[1:], batch]
    return [Block(first, stop, lengths[first]) for first, stop in zip(starts, stops, strict=True)]


def filled(net: Importer, name: str, steps: int) -> str:
    """Add zeros after the last step of (steps, directions, batch, hidden); name the result."""
    missing_steps = steps - net.source_shape(name)[0]
    if not missing_steps:
        return name
    zeros: dict[str, Any] = {"begins": (0, 0, 0, 0), "ends": (missing_steps, 0, 0, 0)}
    return net.put(Pad, f"{name}.filled", [net.source_order(name)], identity(4), **zeros)


def joined(net: Importer, names: Sequence[str], label: str, output: str) -> None:
    """Concatenate the results of the blocks along the batch, the last axis but one.

    `label` names the layer.
    """
    shape = net.source_shape(names[0])
    if len(names) == 1:
        net.reshape(label, names[0], shape, output)
        return
    sources = tuple(net.source_order(name) for name in names)
    layer = Concat(label, sources, (output,), axis=len(shape) - 2)
    net.add(layer, identity(len(shape)))


_ACTIVATIONS: dict[Cell, tuple[str, ...]] = {
    "lstm": ("sigmoid", "tanh", "tanh"),
    "gru": ("sigmoid", "tanh"),
    "rnn": ("tanh",),
}
_MOST_STEPS = 128
"""Most steps of all directions and lengths to write as simpler layers, about a dozen per step."""
_DIRECTIONS: dict[str, Direction] = {
    "forward": "forward",
    "reverse": "reverse",
    "bidirectional": "bidirectional",
}


Outputs = tuple[str, str, str]
"""Names of all hidden states, the last one, and the last cell state; empty if not read."""


def recurrent(cell: Cell) -> Callable[[OnnxNode, Importer], None]:
    """Return the translator to Recurrent; the last hidden states are slices of its output."""

    def translate(node: OnnxNode, net: Importer) -> None:
        data = net.tensor(node.input(0), rank=3)
        weight, recurrence = (net.array(node.input(position), rank=3) for position in (1, 2))
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
        _require_usual_form(node, cell)
        parts = blocks(node, net, steps, batch)
        every, last, state = (
            name if net.facts.uses[name] else "" for name in (*node.outputs, "", "")[:3]
        )
        if state:
            _require_few(sum(part.length for part in parts) * directions)
        with net.attempt():
            states = _states(node, net, (directions, batch, hidden))
            run = _Run(node, net, cell, direction)
            if parts == [Block(0, batch, steps)]:
                run.add(node.name, node.input(0), states, (every, last, state))
            else:
                _add_blocks(run, parts, states, (every, last, state))

    return translate


def _add_blocks(
    run: _Run, parts: Sequence[Block], states: Mapping[State, str], outputs: Outputs
) -> None:
    node, net = run.node, run.net
    steps, alone = net.source_shape(node.input(0))[0], len(parts) == 1
    results: list[Outputs] = []
    for part in parts:
        label = net.unique(f"{node.name}.{part.first}_to_{part.stop - 1}")
        of_batch = {1: (part.first, part.stop)}
        data = cut(net, node.input(0), f"{label}.data", {0: (0, part.length), **of_batch})
        initial = {
            kind: cut(net, name, f"{label}.{kind}", of_batch) for kind, name in states.items()
        }
        every, last, cell = (net.unique(f"{label}.{name}") if name else "" for name in outputs)
        run.add(node.name if alone else label, data, initial, (every, last, cell))
        results.append((filled(net, every, steps) if every else "", last, cell))
    label = net.unique(f"{node.name}.joined") if alone else node.name
    for name, pieces in zip(outputs, zip(*results, strict=True), strict=True):
        if name:
            joined(net, pieces, label, name)
            label = net.unique(f"{name}.joined")


class _Run:
    """Adds layers for all sequences of a node, or for some of them."""

    def __init__(self, node: OnnxNode, net: Importer, cell: Cell, direction: Direction) -> None:
        self.node = node
        self.net = net
        self._cell: Cell = cell
        self._direction: Direction = direction

    def add(self, label: str, data: str, states: Mapping[State, str], outputs: Outputs) -> None:
        """Add the layers from `data` (steps, batch, inputs) to `outputs`; `label` names them."""
        if outputs[2]:
            self._add_steps(data, states, outputs)
        else:
            self._add_layer(label, data, states, outputs)

    def _add_layer(
        self, label: str, data: str, states: Mapping[State, str], outputs: Outputs
    ) -> None:
        node, net = self.node, self.net
        weight, recurrence = (net.array(node.input(position)) for position in (1, 2))
        directions, rows, inputs = weight.shape
        hidden, columns = recurrence.shape[2], directions * rows
        every = outputs[0] or net.unique(f"{label}.all")
        layer = Recurrent(
            label,
            (net.source_order(data), *map(net.in_source_order, states.values())),
            (every,),
            cell=self._cell,
            direction=self._direction,
            hidden=hidden,
            initial=tuple(states),
            weight=net.constant(weight.name, "columns", (inputs, columns), _by_columns),
            recurrence=net.constant(recurrence.name, "columns", (hidden, columns), _by_columns),
            bias=_bias(node, net, directions, rows),
            resets_late=bool(node.integer("linear_before_reset", 0)),
        )
        net.add(layer, identity(4))
        if outputs[1]:
            _last(node, net, every, outputs[1], self._direction)

    def _add_steps(self, data: str, states: Mapping[State, str], outputs: Outputs) -> None:
        """Add every step as simpler layers, which also compute the cell state."""
        node, net = self.node, self.net
        directions, _, hidden = net.source_shape(node.input(2))
        steps, batch, _ = net.source_shape(data)
        results = []
        for number in range(directions):
            backwards = self._direction == "reverse" or number == 1
            of_direction = LstmSteps(node, net, number)
            initial = (states.get("hidden"), states.get("cell"))
            results.append(of_direction.add(data, *initial, backwards=backwards))
        every = [result.every[step] for step in range(steps) for result in results]
        rows = (every, [result.hidden for result in results], [result.cell for result in results])
        state = (directions, batch, hidden)
        for place, (name, tensors) in enumerate(zip(outputs, rows, strict=True)):
            if name:
                shape = (steps, *state) if place == 0 else state
                label = net.unique(f"{node.name}.output{place}")
                net.reshape(label, _stacked(net, tensors, label), shape, name)


def _stacked(net: Importer, tensors: Sequence[str], label: str) -> str:
    if len(tensors) == 1:
        return tensors[0]
    return net.put(Concat, f"{label}.rows", tensors, identity(2), axis=0)


def _require_few(steps: int) -> None:
    if steps > _MOST_STEPS:
        raise NotALayerError(
            f"its last cell state is read, which is supported for at most {_MOST_STEPS} steps, "
            f"and it has {steps}"
        )


def _direction(node: OnnxNode) -> Direction:
    direction = node.text("direction", "forward")
    if direction not in _DIRECTIONS:
        raise InvalidDataError(f"attribute direction has the unknown value '{direction}'")
    return _DIRECTIONS[direction]


def _require_usual_form(node: OnnxNode, cell: Cell) -> None:
    activations = tuple(
        string.decode("utf-8", "replace").lower() for string in node.strings("activations")
    )
    usual = _ACTIVATIONS[cell]
    if activations not in ((), usual, usual * 2):
        raise NotALayerError("other activations")
    if any(node.has(name) for name in ("clip", "activation_alpha", "activation_beta")):
        raise NotALayerError("clips, or scales its activations")
    if node.integer("layout", 0) or node.integer("input_forget", 0):
        raise NotALayerError("batch first, or input and forget gates are one")
    if node.input(7):
        raise NotALayerError("has peepholes")


def _by_columns(array: Array) -> Array:
    return array.transpose(2, 0, 1).reshape(array.shape[2], -1)


def _bias(node: OnnxNode, net: Importer, directions: int, rows: int) -> str | None:
    if not node.input(3):
        return None
    bias = net.array(node.input(3))
    if bias.shape != (directions, 2 * rows):
        raise InvalidDataError(f"bias {list(bias.shape)} does not fit {rows} gates")

    def stacked(array: Array) -> Array:
        return array.reshape(directions, 2, rows).transpose(1, 0, 2).reshape(2, -1)

    return net.constant(bias.name, "columns", (2, directions * rows), stacked)


def _states(node: OnnxNode, net: Importer, shape: Shape) -> dict[State, str]:
    states: dict[State, str] = {}
    inputs: tuple[tuple[State, str], ...] = (("hidden", node.input(5)), ("cell", node.input(6)))
    for kind, name in inputs:
        if not name or (name in net.known and not np.any(net.known[name].read())):
            continue
        if net.source_shape(name) != shape:
            raise InvalidDataError(
                f"initial state {list(net.source_shape(name))} is not {list(shape)}"
            )
        states[kind] = name
    return states


def _last(node: OnnxNode, net: Importer, every: str, output: str, direction: Direction) -> None:
    """Add the state after the last step of each direction: directions x batch x hidden."""
    steps, directions, batch, hidden = net.source_shape(every)
    parts = []
    for number in range(directions):
        step = 0 if direction == "reverse" or number else steps - 1
        slices = (AxisSlice(0, step, step + 1, 1), AxisSlice(1, number, number + 1, 1))
        label = f"{node.name}.last{number}"
        parts.append(net.put(StridedSlice, label, [every], identity(4), parts=slices))
    if len(parts) > 1:
        parts = [net.put(Concat, f"{node.name}.last", parts, identity(4), axis=1)]
    shape = (directions, batch, hidden)
    net.reshape(net.unique(f"{node.name}.state"), parts[0], shape, output)


TRANSLATORS = {"GRU": recurrent("gru"), "LSTM": recurrent("lstm"), "RNN": recurrent("rnn")}
