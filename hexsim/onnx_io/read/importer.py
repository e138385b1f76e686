"""Builds the network node by node.

A translator queries its inputs, requests them in the stored order that it needs, and adds layers.
If a tensor has another order, a Permute layer is added, once per tensor and order.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import Any

import numpy as np

from hexsim import budget
from hexsim.errors import InvalidDataError
from hexsim.graph.derived import Derived
from hexsim.graph.domains import MOST_AXES
from hexsim.graph.ir import Constant, Layer, Network, Shape, Tensor
from hexsim.layers import Permute, Reshape
from hexsim.onnx_io.file.axis_order import Order, channels_last, identity, reshaped, stored_shape
from hexsim.onnx_io.file.known import Array, Known
from hexsim.onnx_io.file.node import NotALayerError, OnnxNode
from hexsim.onnx_io.read.network_state import DynamicShapes, FileFacts, ImportRecord, NetworkState
from hexsim.onnx_io.read.node_codes import NodeCodes
from hexsim.onnx_io.read.node_results import NodeInput
from hexsim.texts.text import new_name

_COMPUTED = 16
"""How often nodes may compute with all constants of a file before the budget is checked."""


class Importer(NetworkState):
    """The network so far, with queries for inputs of nodes and methods that add layers.

    `facts` describe the file, `record` is the import report so far, and `dynamic` has the nodes
    with shapes that depend on values.
    """

    def __init__(self, known: Mapping[str, Known], facts: FileFacts | None = None) -> None:
        super().__init__(dict(known), _names=set(known))
        elements = sum(math.prod(array.shape) for array in known.values())
        self.facts = FileFacts(elements) if facts is None else facts
        self.record = ImportRecord()
        self.dynamic = DynamicShapes()

    def trial(self) -> Importer:
        """Return a copy for reading nodes on trial; it does not support dynamic shapes."""
        other = Importer({}, self.facts.for_trial())
        other.restore(self.snapshot())
        other.judged |= self.tensors.keys()
        other.dynamic = DynamicShapes(allowed=False)
        return other

    # Queries

    def expect(self, nodes: Sequence[OnnxNode], outputs: Iterable[str]) -> None:
        """Record nodes before they are read, and the names of the outputs of their graph."""
        self.facts.expect(nodes, outputs)
        for node in nodes:
            self._names.update((node.name, *node.outputs))

    def exists(self, name: str) -> bool:
        """True if `name` has been written by a node, or is an input or a known array."""
        places = (self.tensors, self.known, self.stripped, self.dynamic.tensors)
        return any(name in place for place in places)

    def producer(self, name: str) -> Layer | None:
        """Return the layer that writes a tensor, None for an input."""
        return self._producers.get(name)

    def source_shape(self, name: str) -> Shape:
        """Return the shape of a tensor or known array in ONNX axis order."""
        return self.known[name].shape if name in self.known else self.tensors[name].source_shape

    def dtype(self, name: str) -> str:
        """Return the element type of a tensor or known array."""
        return self.known[name].dtype if name in self.known else self.tensors[name].dtype

    def order(self, name: str) -> Order:
        """Return the stored order of a tensor."""
        return self.tensors[name].order

    def tensor(self, name: str, rank: int | None = None) -> Tensor:
        """Return the tensor `name`; NotALayerError if it is a known array or has another rank."""
        if name not in self.tensors:
            raise NotALayerError(f"'{name}' does not vary")
        tensor = self.tensors[name]
        if rank is not None and len(tensor.shape) != rank:
            raise NotALayerError(f"its input has {len(tensor.shape)} axes, not {rank}")
        return tensor

    def array(self, name: str, rank: int | None = None) -> Known:
        """Return the known array `name`.

        NotALayerError if it varies, InvalidDataError if it has another rank.
        """
        if name not in self.known:
            raise NotALayerError(f"'{name}' is not constant")
        known = self.known[name]
        if rank is not None and len(known.shape) != rank:
            raise InvalidDataError(f"'{name}' has {len(known.shape)} axes, not {rank}")
        return known

    def integers(self, node: OnnxNode, attribute: str, position: int) -> tuple[int, ...] | None:
        """Return a list of ints, an attribute or, in newer opsets, an input; None if absent."""
        if node.has(attribute):
            return node.integers(attribute)
        name = node.input(position)
        return self.whole_numbers(name) if name else None

    def whole_numbers(self, name: str) -> tuple[int, ...]:
        """Return the elements of the known array `name`.

        NotALayerError if it varies, InvalidDataError if they are not integers.
        """
        array = self.array(name)
        if np.dtype(array.dtype).kind not in "iu":
            raise InvalidDataError(f"'{name}' holds {array.dtype} numbers, not integers")
        return tuple(int(number) for number in array.read().reshape(-1))

    def sizes(self, name: str) -> tuple[int, ...]:
        """Return the elements of the known array `name`, one for each axis; errors as above.

        The product of more would take long.
        """
        count = math.prod(self.array(name).shape)
        if count > MOST_AXES:
            raise InvalidDataError(
                f"'{name}' holds the sizes of {count} axes, and {MOST_AXES} is the most"
            )
        return self.whole_numbers(name)

    def number(self, name: str) -> float:
        """Return the only element of the known array `name`.

        NotALayerError if it varies, InvalidDataError if it has several elements, or none.
        """
        array = self.array(name)
        if math.prod(array.shape) != 1:
            raise InvalidDataError(f"'{name}' has the shape {list(array.shape)}, not one element")
        return float(array.read().item())

    def operand_type(self, name: str) -> NodeInput:
        """Return shape, dtype and, if known and small, value of a tensor or array."""
        value = small_value(self.known[name]) if name in self.known else None
        return NodeInput(self.source_shape(name), self.dtype(name), value)

    @property
    def layers(self) -> Sequence[Layer]:
        """The layers so far."""
        return self._layers

    # What is added

    def unique(self, name: str) -> str:
        """Return `name`, or `name` with a number if a tensor or constant has it already."""
        return new_name(self._names, name)

    def constant(
        self,
        name: str,
        form: str,
        shape: Shape,
        change: Callable[[Array], Array],
        factor: float = 1.0,
    ) -> str:
        """Name the constant that is `change` of the known array `name`, with `shape`, times factor.

        `form` says which change it is: the same form of the same array is one constant. The
        first form keeps the array's name.
        """
        known = self.known[name]
        codes = self._codes_after(name, change)
        as_in_file = name not in self.codes or (codes is not None and codes.fits(shape))
        keeps_name = as_in_file and factor == 1
        label = self.new_constant(
            name, form, shape, lambda: change(known.read()), known.dtype, as_in_file=keeps_name
        )
        if factor != 1:
            numbers = Constant(name, shape, lambda: change(known.read()), known.dtype)
            times = Constant("factor", (), np.asarray(factor, known.dtype), known.dtype)
            self._constants[label] = Derived(
                numbers, shape, lambda array: array * times.value(), label, times
            )
        if as_in_file and label != name:
            self.origins[label] = self.origins.get(name, name)
        return label

    def new_constant(
        self,
        name: str,
        form: str,
        shape: Shape,
        make: Callable[[], Array],
        dtype: str,
        *,
        as_in_file: bool = True,
    ) -> str:
        """Name the constant that `make` computes for the array `name` in `form`.

        Without `as_in_file` it never gets the name of the array, whose encoding it has not.
        """
        if (name, form) not in self._forms:
            is_new = as_in_file and name not in self._constants
            label = name if is_new else self.unique(f"{name}.{form}")
            self._constants[label] = Constant(label, shape, make, dtype)
            self._forms[name, form] = label
        return self._forms[name, form]

    def rearranged(
        self, name: str, label: str, shape: Shape, change: Callable[[Array], Array]
    ) -> str:
        """Name the known array with the numbers of `name` in another shape or order.

        It is named `label`, made unique, and has the encoding of `name`.
        """
        known, label = self.known[name], self.unique(label)
        self.known[label] = Known(label, shape, known.dtype, lambda: change(known.read()))
        self.follow(name, label, change)
        return label

    def follow(self, name: str, label: str, change: Callable[[Array], Array]) -> None:
        """Give `label`, which is `change` of the known array `name`, the encoding of that.

        An encoding is lost if the change does more than rearranging its channels.
        """
        codes = self._codes_after(name, change)
        if codes is not None or name not in self.codes:
            self.origins[label] = self.origins.get(name, name)
        if codes is not None:
            self.codes[label] = codes

    def _codes_after(self, name: str, change: Callable[[Array], Array]) -> NodeCodes | None:
        codes, shape = self.codes.get(name), self.known[name].shape
        return None if codes is None else codes.moved(change(codes.marks(shape)))

    def derived(self, name: str, form: str, change: Callable[[Array], Array]) -> str:
        """Name the known array that is `change` of the known array `name`, of the same shape."""
        if (name, form) not in self._forms:
            known = self.known[name]
            label = self.unique(f"{name}.{form}")
            self.known[label] = Known(label, known.shape, known.dtype, lambda: change(known.read()))
            self._forms[name, form] = label
        return self._forms[name, form]

    def as_is(self, name: str) -> str:
        """Name the constant that is the known array `name` itself."""
        return self.constant(name, "source", self.known[name].shape, lambda array: array)

    def charge(self, node: str, elements: int) -> None:
        """Count the elements that folding `node` computes; HexsimError beyond the budget.

        Constants that the file holds may be computed with a few times.
        """
        self._computed += elements
        if self._computed > _COMPUTED * self.facts.elements:
            subject = f"node '{node}', with all nodes that compute constants before it,"
            budget.require(
                budget.CONSTANTS, self._computed - _COMPUTED * self.facts.elements, subject
            )

    def add_input(self, tensor: Tensor) -> None:
        """Declare an input of the network."""
        self.tensors[tensor.name] = tensor
        self._names.add(tensor.name)

    def add(self, layer: Layer, order: Order) -> None:
        """Add a layer with one output, stored in `order`; its dtype is that of its input.

        InvalidDataError if its output is empty and its inputs are not, as for a too large window.
        """
        shapes = [(self._constants.get(name) or self.tensors[name]).shape for name in layer.inputs]
        (shape,) = layer.output_shapes(shapes)
        least = 0 if any(0 in source for source in shapes) else 1
        if any(size < least for size in shape):
            raise InvalidDataError(f"its output would have the shape {list(shape)}")
        dtype = next(self.tensors[n].dtype for n in layer.inputs if n in self.tensors)
        self.add_with(layer, [Tensor(layer.output, shape, order, dtype)])

    def put(
        self,
        kind: type[Layer],
        label: str,
        inputs: Iterable[str],
        order: Order,
        output: str = "",
        /,
        **fields: Any,
    ) -> str:
        """Add a layer named `label`, made unique, and return its output, else named like it."""
        label = self.unique(label)
        self.add(kind(label, tuple(inputs), (output or label,), **fields), order)
        return output or label

    def add_with(self, layer: Layer, outputs: list[Tensor]) -> None:
        """Add a layer whose outputs are `outputs`; HexsimError if they are beyond the budget."""
        for tensor in outputs:
            budget.require_shape(tensor.shape, f"output '{tensor.name}' of node '{layer.name}'")
        self._layers.append(layer)
        self._producers.update(dict.fromkeys(layer.outputs, layer))
        self.tensors.update({tensor.name: tensor for tensor in outputs})

    def sort(self) -> None:
        """Sort the layers so that each follows the layers that write its inputs."""
        unwritten = {name for layer in self._layers for name in layer.outputs}
        waiting, sorted_layers = self._layers, list[Layer]()
        while waiting:
            blocked = []
            for layer in waiting:
                if unwritten.isdisjoint(layer.inputs):
                    sorted_layers.append(layer)
                    unwritten.difference_update(layer.outputs)
                else:
                    blocked.append(layer)
            assert len(blocked) < len(waiting), "layers read what they write"
            waiting = blocked
        self._layers = sorted_layers

    @contextmanager
    def attempt(self) -> Iterator[None]:
        """Undo all changes of the block if it raises NotALayerError."""
        before = self.snapshot()
        try:
            yield
        except NotALayerError:
            self.restore(before)
            raise

    # Axis order

    def in_order(self, name: str, order: Order) -> str:
        """Return the tensor that holds `name` in `order`, permuting if it must be."""
        have = self.tensors[name].order
        if have == order:
            return name
        if (name, order) not in self._reordered:
            label = f"{name}.{_order_label(order)}"
            permutation = tuple(have.index(axis) for axis in order)
            turned = self.put(Permute, label, [name], order, permutation=permutation)
            self._reordered[name, order] = turned
        return self._reordered[name, order]

    def channels_last(self, name: str) -> str:
        """Return the tensor that holds `name` with source axis 1 last."""
        return self.in_order(name, channels_last(len(self.tensor(name).shape)))

    def source_order(self, name: str) -> str:
        """Return the tensor that holds `name` in ONNX axis order."""
        return self.in_order(name, identity(len(self.tensor(name).shape)))

    def in_source_order(self, name: str) -> str:
        """Return the constant or tensor that holds an array or tensor in ONNX axis order."""
        return self.as_is(name) if name in self.known else self.source_order(name)

    def reshape(self, layer_name: str, name: str, target: Shape, output: str) -> None:
        """Add the Reshape of `name` to source shape `target`, moving data only if necessary.

        If `name` was itself reshaped from a tensor of that shape, this tensor is read.
        """
        if math.prod(target) != math.prod(self.source_shape(name)):
            raise InvalidDataError(
                f"cannot reshape {list(self.source_shape(name))} to {list(target)}"
            )
        aliases = self.reshaped_from(name)
        self._aliases[output] = aliases
        name = next((alias for alias in aliases if self.source_shape(alias) == target), name)
        order = reshaped(self.source_shape(name), self.order(name), target)
        if order is None:
            name = self.source_order(name)
            order = reshaped(self.source_shape(name), self.order(name), target)
            assert order is not None, "any reshape is possible in source order"
        shape = stored_shape(target, order)
        self.add(Reshape(layer_name, (name,), (output,), shape=shape), order)

    def shaped(self, name: str, label: str, target: Shape) -> str:
        """Return the tensor `label`, made unique, that is `name` in source shape `target`."""
        label = self.unique(label)
        self.reshape(label, name, target, label)
        return label

    def reshaped_from(self, name: str) -> tuple[str, ...]:
        """Return the tensors that `name` is a Reshape of, first to last, and itself."""
        return (*self._aliases.get(name, ()), name)

    def operand(self, name: str, order: Order) -> str:
        """Return `name`, tensor or array, with leading axes of size one added, in `order`."""
        source = self.source_shape(name)
        if len(source) > len(order):
            raise InvalidDataError(f"'{name}' has {len(source)} axes, more than {len(order)}")
        target = (1,) * (len(order) - len(source)) + source
        if name in self.known:
            return self.constant(
                name,
                f"stored_{''.join(map(str, order))}",
                stored_shape(target, order),
                lambda array: array.reshape(target).transpose(order),
            )
        if len(source) < len(order):
            name = self.shaped(name, f"{name}.{len(order)}d", target)
        return self.in_order(name, order)

    def network(self, name: str, inputs: tuple[str, ...], outputs: tuple[str, ...]) -> Network:
        """Return the network that has been built."""
        coded = {n: end for n, end in self.coded_ends.items() if n in (*inputs, *outputs)}
        return Network(
            name,
            tuple(self._layers),
            self.tensors,
            self._constants,
            inputs,
            outputs,
            coded_ends=coded,
        ).with_layers(self._layers)


def small_value(known: Known) -> Array | None:
    """Return the elements of an array that may decide a shape, None for any other."""
    return np.asarray(known.read()) if math.prod(known.shape) <= 64 else None


def _order_label(order: Order) -> str:
    if len(order) == 4 and order == identity(4):
        return "nchw"
    if order == channels_last(4):
        return "nhwc"
    return "order" + "".join(map(str, order))
