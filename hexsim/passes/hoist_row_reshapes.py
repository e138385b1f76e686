"""Moves reshapes after a FullyConnected layer behind the functions that follow.

A product of a tensor of many axes with a matrix is imported as reshape, FullyConnected, reshape.
Biases and functions come after the reshape, where the layer cannot absorb them. So they are moved
to work on the rows before the reshape.
"""

from hexsim.graph.ir import Constant, Layer, Network, Tensor
from hexsim.layers import Elementwise, FullyConnected, Neuron, Reshape
from hexsim.passes._rewriter import Derived, is_private, names_of, with_names_kept
from hexsim.texts.names import new_name

_ROWS = 2
"""Number of axes of the output of a FullyConnected."""


def hoist_row_reshapes(network: Network) -> Network:
    """Move reshapes of rows behind functions, and behind sums and products with constants.

    Rows take the name of the tensor whose values they have, if nothing else has it.

    1. A Reshape of the output of a FullyConnected that keeps the last axis moves behind an
       element-wise function, or a sum, product or difference with a constant that is a scalar or
       has one number for each output, if no other layer reads the tensors between them.
    """
    walk = _RowWalk(network)
    for layer in network.layers:
        walk.take(layer)
    hoisted = network.with_layers(walk.layers.values(), walk.tensors, walk.constants)
    return with_names_kept(hoisted, walk.rows)


class _RowWalk:
    """The layers so far; `rows` maps tensors to those that have their values as rows."""

    def __init__(self, network: Network) -> None:
        self.layers: dict[str, Layer] = {}
        self.tensors: list[Tensor] = []
        self.constants: list[Constant] = []
        self.rows: dict[str, str] = {}
        self._network = network
        self._names = names_of(network)
        self._reshapes: dict[str, Reshape] = {}
        self._row_names: set[str] = set()

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
        self.rows[source.name] = rows.name
        self._row_names.add(rows.name)
        self._keep(on_rows.replace(inputs=inputs, outputs=(rows.name,)))
        self._keep(reshape.replace(inputs=(rows.name,), outputs=layer.outputs))

    def _keep(self, layer: Layer) -> None:
        self.layers[layer.name] = layer
        if isinstance(layer, FullyConnected):
            self._row_names.add(layer.output)
        if (
            isinstance(layer, Reshape)
            and layer.inputs[0] in self._row_names
            and is_private(self._network, layer.output)
            and layer.shape[-1:] == self._network.shape(layer.output)[-1:]
            and self._is_of_rows(layer)
        ):
            self._reshapes[layer.output] = layer

    def _is_of_rows(self, layer: Reshape) -> bool:
        """Return whether it keeps the last axis, and no other layer reads the rows."""
        new_shapes = {tensor.name: tensor.shape for tensor in self.tensors}
        name = layer.inputs[0]
        shape = new_shapes.get(name) or self._network.shape(name)
        is_only_reader = name in new_shapes or is_private(self._network, name)
        return is_only_reader and len(shape) == _ROWS and layer.shape[-1:] == shape[-1:]

    def _on_rows(self, layer: Layer, data: str) -> Layer | None:
        """Return the form of `layer` on rows, None if it has none."""
        if isinstance(layer, Neuron):
            return layer
        if not isinstance(layer, Elementwise) or layer.kind not in ("sum", "product", "sub"):
            return None
        operands = [name for name in layer.inputs if name != data]
        if len(layer.inputs) != _ROWS or len(operands) != 1:
            return None
        constant = self._network.constants.get(operands[0])
        last = self._network.shape(data)[-1]
        if constant is None or self._network.shape(layer.output) != self._network.shape(data):
            return None
        if constant.elements != 1 and (constant.elements, constant.shape[-1]) != (last, last):
            return None
        flat_shape = () if constant.elements == 1 else (last,)
        if constant.shape == flat_shape:
            return layer
        name = new_name(self._names, f"{layer.name}.{constant.name}")
        self.constants.append(
            Derived(constant, flat_shape, lambda array: array.reshape(flat_shape), name)
        )
        inputs = tuple(name if input_ == constant.name else input_ for input_ in layer.inputs)
        return layer.replace(inputs=inputs)
