"""Lets what follows a matrix of weights work on its rows, before they get back their axes.

A product of a tensor of many axes with a matrix is read as reshape, FullyConnected, reshape. Biases
and functions stand behind the reshape, where the layer cannot absorb them.
"""

from __future__ import annotations

from hexsim.graph.ir import Constant, Layer, Network, Tensor
from hexsim.layers import Elementwise, FullyConnected, Neuron, Reshape
from hexsim.passes._rewriter import is_private, names_of, new_name

_ROWS = 2
"""Axes of what a FullyConnected writes."""


def hoist_row_reshapes(network: Network) -> Network:
    """Move reshapes of rows behind functions, and behind sums and products with constants.

    1. A Reshape of what a FullyConnected writes, which keeps the last axis, goes behind a function
       of one number, or a sum, product or difference with a constant that is one number or one
       number for each output, if nobody else reads what is between them.
    """
    walk = _RowWalk(network)
    for layer in network.layers:
        walk.take(layer)
    return network.with_layers(walk.layers.values(), walk.tensors, walk.constants)


class _RowWalk:
    """The layers so far; `reshapes` are those of rows, by what they write."""

    def __init__(self, network: Network) -> None:
        self.layers: dict[str, Layer] = {}
        self.tensors: list[Tensor] = []
        self.constants: list[Constant] = []
        self._network = network
        self._names = names_of(network)
        self._reshapes: dict[str, Reshape] = {}
        self._rows: set[str] = set()

    def take(self, layer: Layer) -> None:
        """Add `layer`, perhaps before the reshape that it reads."""
        data = next((name for name in layer.inputs if name in self._reshapes), None)
        on_rows = None if data is None else self._on_rows(layer, data)
        if data is None or on_rows is None:
            self._keep(layer)
            return
        reshape = self._reshapes.pop(data)
        del self.layers[reshape.name]
        source = self._network.tensors[layer.outputs[0]]
        shape = (source.elements // source.shape[-1], source.shape[-1])
        name = new_name(self._names, f"{source.name}.rows")
        rows = Tensor(name, shape, dtype=source.dtype)
        inputs = tuple(reshape.inputs[0] if name == data else name for name in on_rows.inputs)
        self.tensors.append(rows)
        self._rows.add(rows.name)
        self._keep(on_rows.replace(inputs=inputs, outputs=(rows.name,)))
        self._keep(reshape.replace(inputs=(rows.name,), outputs=layer.outputs))

    def _keep(self, layer: Layer) -> None:
        self.layers[layer.name] = layer
        if isinstance(layer, FullyConnected):
            self._rows.add(layer.output)
        if (
            isinstance(layer, Reshape)
            and layer.inputs[0] in self._rows
            and is_private(self._network, layer.output)
            and layer.shape[-1:] == self._network.shape(layer.output)[-1:]
            and self._is_of_rows(layer)
        ):
            self._reshapes[layer.output] = layer

    def _is_of_rows(self, layer: Reshape) -> bool:
        """True if it keeps the last axis, and nobody else reads the rows."""
        made = {tensor.name: tensor.shape for tensor in self.tensors}
        name = layer.inputs[0]
        shape = made.get(name) or self._network.shape(name)
        alone = name in made or is_private(self._network, name)
        return alone and len(shape) == _ROWS and layer.shape[-1:] == shape[-1:]

    def _on_rows(self, layer: Layer, data: str) -> Layer | None:
        """What `layer` is on rows, None if it is of no such kind."""
        if isinstance(layer, Neuron):
            return layer
        if not isinstance(layer, Elementwise) or layer.kind not in ("sum", "product", "sub"):
            return None
        others = [name for name in layer.inputs if name != data]
        if len(layer.inputs) != _ROWS or len(others) != 1:
            return None
        constant = self._network.constants.get(others[0])
        last = self._network.shape(data)[-1]
        if constant is None or self._network.shape(layer.output) != self._network.shape(data):
            return None
        if constant.elements != 1 and (constant.elements, constant.shape[-1]) != (last, last):
            return None
        flat = () if constant.elements == 1 else (last,)
        if constant.shape == flat:
            return layer
        name = new_name(self._names, f"{layer.name}.{constant.name}")
        self.constants.append(constant.derive(flat, lambda array: array.reshape(flat), name))
        inputs = tuple(name if input_ == constant.name else input_ for input_ in layer.inputs)
        return layer.replace(inputs=inputs)
