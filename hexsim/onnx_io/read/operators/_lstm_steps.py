"""The steps of an LSTM as simpler layers, for networks that read its last cell state.

Streaming networks pass both states from one inference to the next, but a Recurrent layer only
writes the hidden states.

Slices of tensors and of known arrays along source axes.
"""

from collections.abc import Mapping
from typing import Any

import numpy as np

from hexsim.errors import InvalidDataError
from hexsim.graph.ir import Layer, Shape
from hexsim.layers import AxisSlice, Elementwise, FullyConnected, Neuron, StridedSlice
from hexsim.layers.elementwise import ElementwiseKind, NeuronFunction
from hexsim.onnx_io.file.axis_order import identity
from hexsim.onnx_io.file.known import Array
from hexsim.onnx_io.file.node import OnnxNode
from hexsim.onnx_io.read.importer import Importer
from hexsim.records import dataclass


def cut(net: Importer, name: str, label: str, spans: Mapping[int, tuple[int, int]]) -> str:
    """Name the slice of `name` from start to stop along each axis in `spans`.

    The slice of a tensor is in source order, that of a known array is a known array. It is named
    `label`, made unique; if it is all of `name`, that is returned.
    """
    shape = net.source_shape(name)
    spans = {axis: span for axis, span in spans.items() if span != (0, shape[axis])}
    if not spans:
        return name
    if name in net.known:
        places = tuple(slice(*spans.get(axis, (0, size))) for axis, size in enumerate(shape))
        sizes = tuple(place.stop - place.start for place in places)
        return net.rearranged(name, label, sizes, lambda array: array[places])
    parts = tuple(AxisSlice(axis, *span) for axis, span in spans.items())
    source = [net.source_order(name)]
    return net.put(StridedSlice, label, source, identity(len(shape)), parts=parts)


@dataclass(frozen=True)
class States:
    """Results of one direction: the hidden state of every step in order, and the last hidden and
    cell state, all of shape (batch, units)."""

    every: tuple[str, ...]
    hidden: str
    cell: str


class LstmSteps:
    """Adds the layers of direction `number` of a node; all tensors are matrices of batch rows."""

    def __init__(self, node: OnnxNode, net: Importer, number: int) -> None:
        self._node = node
        self._net = net
        self._number = number
        self._directions, _, self._units = net.source_shape(node.input(2))

    def add(self, data: str, hidden: str | None, cell: str | None, *, backwards: bool) -> States:
        """Add all steps of `data`, steps x batch x inputs.

        `hidden` and `cell` are the initial states, directions x batch x units, None for zeros.
        """
        steps, batch, inputs = self._net.source_shape(data)
        rows = self._flat(data, (steps * batch, inputs), "rows")
        totals = self._product("input", rows, self._node.input(1), self._bias())
        of_state = None if hidden is None else self._of_initial(hidden, batch)
        cell_state = None if cell is None else self._state(cell, batch, "cell")
        hidden_state, every = "", dict[int, str]()
        for step in reversed(range(steps)) if backwards else range(steps):
            if every:
                of_state = self._product("state", hidden_state, self._node.input(2), None)
            total = self._part(totals, 0, step * batch, (step + 1) * batch)
            hidden_state, cell_state = self._step(total, of_state, cell_state)
            every[step] = hidden_state
        assert cell_state is not None
        return States(tuple(every[step] for step in range(steps)), hidden_state, cell_state)

    def _step(self, total: str, of_state: str | None, cell: str | None) -> tuple[str, str]:
        """Add one step and return its hidden and cell state.

        `total` is the product with its input plus the bias, `of_state` that with the last hidden
        state.
        """
        units = self._units
        if of_state is not None:
            total = self._both("total", "sum", total, of_state)
        open_gates = self._function("gates", "sigmoid", self._part(total, 1, 0, 3 * units))
        fresh = self._function("fresh", "tanh", self._part(total, 1, 3 * units, 4 * units))
        gate_in, gate_out, gate_kept = (
            self._part(open_gates, 1, k * units, (k + 1) * units) for k in range(3)
        )
        state = self._both("new", "product", gate_in, fresh)
        if cell is not None:
            carried = self._both("kept", "product", gate_kept, cell)
            state = self._both("now", "sum", carried, state)
        return self._both(
            "shown", "product", gate_out, self._function("seen", "tanh", state)
        ), state

    def _name(self, role: str) -> str:
        return f"{self._node.name}.{role}"

    def _form(self, form: str) -> str:
        return form if self._directions == 1 else f"{form} {self._number}"

    def _add(self, kind: type[Layer], role: str, /, *inputs: str, **fields: Any) -> str:
        return self._net.put(kind, self._name(role), inputs, identity(2), **fields)

    def _state(self, name: str, batch: int, role: str) -> str:
        direction_slice = {0: (self._number, self._number + 1)}
        name = cut(self._net, name, f"{self._node.name}.{role}{self._number}", direction_slice)
        return self._flat(name, (batch, self._units), role)

    def _of_initial(self, name: str, batch: int) -> str:
        """Return the product with the initial hidden state, a constant if the state is known."""
        if name not in self._net.known:
            state = self._state(name, batch, "hidden")
            return self._product("state", state, self._node.input(2), None)
        known, recurrence = self._net.known[name], self._net.array(self._node.input(2))

        def product() -> Array:
            return np.asarray(known.read()[self._number] @ recurrence.read()[self._number].T)

        shape = (batch, 4 * self._units)
        return self._net.new_constant(
            self._net.unique(self._name("state")), "", shape, product, known.dtype
        )

    def _flat(self, name: str, shape: Shape, role: str) -> str:
        if name in self._net.known:
            return self._net.constant(name, "matrix", shape, lambda array: array.reshape(shape))
        return self._net.shaped(self._net.source_order(name), self._name(role), shape)

    def _product(self, role: str, rows: str, weight: str, bias: str | None) -> str:
        _, outputs, inputs = self._net.array(weight).shape
        number = self._number
        columns = self._net.constant(
            weight, self._form("columns"), (inputs, outputs), lambda array: array[number].T
        )
        fields = {"weight": columns, "bias": bias, "output_channels": outputs}
        return self._add(FullyConnected, role, rows, **fields)

    def _bias(self) -> str | None:
        name = self._node.input(3)
        if not name:
            return None
        bias, count = self._net.array(name), 4 * self._units
        if bias.shape != (self._directions, 2 * count):
            raise InvalidDataError(f"bias {list(bias.shape)} does not fit {self._units} units")

        def summed_bias() -> Array:
            array = bias.read()[self._number]
            return np.asarray(array[:count] + array[count:])

        form = self._form("of a step")
        return self._net.new_constant(bias.name, form, (count,), summed_bias, bias.dtype)

    def _part(self, name: str, axis: int, start: int, stop: int) -> str:
        return cut(self._net, name, f"{self._node.name}.part", {axis: (start, stop)})

    def _function(self, role: str, function: NeuronFunction, name: str) -> str:
        return self._add(Neuron, role, name, function=function)

    def _both(self, role: str, kind: ElementwiseKind, left: str, right: str) -> str:
        return self._add(Elementwise, role, left, right, kind=kind)
