"""One step of an LSTM as the layers it is made of, for whoever wants its cell state too.

Streaming networks keep both states between their inferences. A Recurrent layer writes one tensor.
"""

from __future__ import annotations

import numpy as np

from hexsim.errors import InvalidDataError
from hexsim.graph.ir import Layer, Shape
from hexsim.layers import AxisSlice, Elementwise, FullyConnected, Neuron, StridedSlice
from hexsim.layers.elementwise import ElementwiseKind
from hexsim.layers.neuron import NeuronFunction
from hexsim.onnx_io.axis_order import identity
from hexsim.onnx_io.importer import Importer
from hexsim.onnx_io.known import Array
from hexsim.onnx_io.node import Node


class LstmStep:
    """The layers of one node of one direction; all tensors are batch x something."""

    def __init__(self, node: Node, net: Importer) -> None:
        self._node = node
        self._net = net
        self._units = net.source_shape(node.input(2))[2]

    def add(self, hidden: str | None, cell: str | None) -> None:
        """Add the step; `hidden` and `cell` are the states before it, None where they are zero."""
        node, net, units = self._node, self._net, self._units
        _, batch, inputs = net.source_shape(node.input(0))
        rows = self._flat(node.input(0), (batch, inputs), "rows")
        total = self._product("input", rows, node.input(1), self._bias())
        if hidden is not None:
            state = self._flat(hidden, (batch, units), "hidden")
            of_state = self._product("state", state, node.input(2), None)
            total = self._both("total", "sum", total, of_state)
        open_gates = self._function("gates", "sigmoid", self._part(total, 0, 3 * units))
        fresh = self._function("fresh", "tanh", self._part(total, 3 * units, 4 * units))
        gate_in, gate_out, gate_kept = (
            self._part(open_gates, k * units, (k + 1) * units) for k in range(3)
        )
        now = self._both("new", "product", gate_in, fresh)
        if cell is not None:
            before = self._flat(cell, (batch, units), "cell")
            kept = self._both("kept", "product", gate_kept, before)
            now = self._both("now", "sum", kept, now)
        shown = self._both("shown", "product", gate_out, self._function("seen", "tanh", now))
        results = {0: (shown, (1, 1, batch, units)), 1: (shown, (1, batch, units))}
        results[2] = now, (1, batch, units)
        for place, (tensor, shape) in results.items():
            if place < len(node.outputs) and node.outputs[place]:
                net.reshape(self._name(f"output{place}"), tensor, shape, node.outputs[place])

    def _name(self, what: str) -> str:
        return self._net.unique(f"{self._node.name}.{what}")

    def _add(self, layer: Layer) -> str:
        self._net.add(layer, identity(2))
        return layer.output

    def _flat(self, name: str, shape: Shape, what: str) -> str:
        label = self._name(what)
        if name in self._net.known:
            return self._net.constant(name, "matrix", shape, lambda array: array.reshape(shape))
        self._net.reshape(label, self._net.source_order(name), shape, label)
        return label

    def _product(self, what: str, rows: str, weight: str, bias: str | None) -> str:
        known = self._net.array(weight)
        _, outputs, inputs = known.shape
        label = self._name(what)
        columns = self._net.constant(weight, "columns", (inputs, outputs), lambda array: array[0].T)
        return self._add(
            FullyConnected(
                name=label,
                inputs=(rows,),
                outputs=(label,),
                weight=columns,
                bias=bias,
                output_channels=outputs,
            )
        )

    def _bias(self) -> str | None:
        name = self._node.input(3)
        if not name:
            return None
        known, count = self._net.array(name), 4 * self._units
        if known.shape != (1, 2 * count):
            raise InvalidDataError(f"bias {list(known.shape)} does not fit {self._units} units")

        def both() -> Array:
            array = known.read()[0]
            return np.asarray(array[:count] + array[count:])

        return self._net.new_constant(known.name, "of a step", (count,), both, known.dtype)

    def _part(self, name: str, start: int, stop: int) -> str:
        label = self._name("part")
        cut = (AxisSlice(1, start, stop),)
        return self._add(StridedSlice(name=label, inputs=(name,), outputs=(label,), parts=cut))

    def _function(self, what: str, function: NeuronFunction, name: str) -> str:
        label = self._name(what)
        return self._add(Neuron(name=label, inputs=(name,), outputs=(label,), function=function))

    def _both(self, what: str, kind: ElementwiseKind, one: str, other: str) -> str:
        label = self._name(what)
        return self._add(Elementwise(name=label, inputs=(one, other), outputs=(label,), kind=kind))
