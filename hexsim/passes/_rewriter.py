"""Helps passes to walk a network in order while layers absorb their consumers.

Finds layers that together compute one tensor from another, backwards from the last layer.

Describes where elements come from, after reshapes and permutes.

A sequence of elements is described by runs, outermost first: (length, stride) in the flat index of
the source tensor. Contiguous neighbouring runs are joined and runs of length one left out, so two
rearrangements are equal if their runs are.
"""

import math
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from hexsim.graph.derived import ONE, Derived
from hexsim.graph.ir import Constant, Layer, Network, Shape
from hexsim.layers import Elementwise, Neuron
from hexsim.layers.elementwise import ElementwiseKind
from hexsim.records import dataclass, replace

Array = npt.NDArray[Any]


class Rewriter:
    """The layers of a network rewritten so far, and new constants.

    A pass walks `network.layers`; for each it either calls `keep` or lets another layer replace it.
    The readers of a tensor are those of the original network. They stay correct because a layer
    that absorbs another writes the output of the other.
    """

    def __init__(self, network: Network) -> None:
        self.network = network
        self._layers: dict[str, Layer] = {}
        self._producers: dict[str, str] = {}
        self._constants: dict[str, Constant] = {}
        self._uses = Counter(
            name
            for layer in network.layers
            for name in (*layer.inputs, *layer.parameters, *layer.statistics)
        )

    def keep(self, layer: Layer) -> None:
        """Add `layer`, or replace the layer of the same name."""
        self._layers[layer.name] = layer
        self._producers.update(dict.fromkeys(layer.outputs, layer.name))

    def drop(self, layer: Layer) -> None:
        """Remove a layer that was added before."""
        del self._layers[layer.name]

    def producer(self, name: str) -> Layer | None:
        """Return the rewritten layer that writes tensor `name`."""
        label = self._producers.get(name)
        return None if label is None else self._layers.get(label)

    def private_producer(self, name: str) -> Layer | None:
        """Return the writer of `name` if exactly one layer reads it and it is no network output."""
        return self.producer(name) if is_private(self.network, name) else None

    def constant(self, name: str) -> Constant:
        """Return a constant of the network or a new one."""
        return self._constants.get(name) or self.network.constants[name]

    def derive(
        self,
        layer: Layer,
        name: str,
        shape: Shape,
        change: Callable[[Array], Array],
        factor: Constant | None = ONE,
    ) -> str:
        """Add the constant `change` of `name` and return its name; a shared one gets a new name.

        The change moves numbers, removes zeros, or multiplies by `factor` (see `Derived`).
        """
        label = name if self._uses[name] <= 1 else f"{layer.name}.{name}"
        return self.new_constant(Derived(self.constant(name), shape, change, label, factor))

    def new_constant(self, constant: Constant) -> str:
        """Add a constant and return its name."""
        self._constants[constant.name] = constant
        return constant.name

    def finish(self) -> Network:
        """Return the rewritten network."""
        return self.network.with_layers(self._layers.values(), constants=self._constants.values())


def names_of(network: Network) -> set[str]:
    """Return the names of all tensors, constants and layers of a network."""
    return {*network.tensors, *network.constants, *(layer.name for layer in network.layers)}


def with_names_kept(network: Network, carriers: Mapping[str, str]) -> Network:
    """Return the network with the old names of tensors whose values others carry now.

    `carriers` maps old names to the new tensors, in another shape or order; they take those that
    nothing else has. So a name stands for the same values before and after a pass.
    """
    fixed_names = (*network.inputs, *network.outputs)
    names = {
        carrier: name
        for name, carrier in carriers.items()
        if name not in network.tensors and carrier in network.tensors and carrier not in fixed_names
    }
    return with_tensors_named(network, names)


def with_tensors_named(network: Network, names: Mapping[str, str]) -> Network:
    """Return the network with new names for some tensors, which `names` maps to them."""
    layers = [
        layer.replace(
            inputs=tuple(names.get(name, name) for name in layer.inputs),
            outputs=tuple(names.get(name, name) for name in layer.outputs),
        )
        for layer in network.layers
    ]
    tensors = [replace(network.tensors[old], name=new) for old, new in names.items()]
    return network.with_layers(layers, tensors)


def is_private(network: Network, name: str) -> bool:
    """Return whether exactly one layer reads tensor `name` and it is no output of the network."""
    return len(network.consumers.get(name, ())) == 1 and name not in network.outputs


def absorbed(layer: Layer, other: Layer) -> dict[str, object]:
    """Return the changed fields of `layer` when it absorbs `other`, whose output it then writes."""
    return {"outputs": other.outputs, "fused": (*layer.fused, other.name, *other.fused)}


Real = npt.NDArray[np.float64]
Numbers = Callable[[Layer, Rewriter], dict[str, float] | None]
"""Returns the constants that a layer reads, by name; None if it cannot be part of a pattern."""


@dataclass(frozen=True)
class Pattern:
    """Layers, in order, that compute one tensor from another, `source`."""

    source: str
    layers: tuple[Layer, ...]
    constants: Mapping[str, float]

    def __call__(self, x: Real, computed: Callable[[Layer, Sequence[Real]], Real]) -> Real:
        """Return the result for x; `computed` evaluates each layer."""
        values: dict[str, Real] = {
            name: np.array(constant) for name, constant in self.constants.items()
        }
        values[self.source] = x
        with np.errstate(all="ignore"):
            for layer in self.layers:
                values[layer.output] = computed(layer, [values[name] for name in layer.inputs])
        return np.broadcast_to(values[self.layers[-1].output], x.shape)

    def replaced_by(self, layer: Layer, rewriter: Rewriter) -> None:
        """Replace the layers by `layer`, under the name of the first."""
        first, *others = self.layers
        fused = (*first.fused, *(name for other in others for name in (other.name, *other.fused)))
        for replaced in self.layers:
            rewriter.drop(replaced)
        outputs = self.layers[-1].outputs
        rewriter.keep(
            layer.replace(name=first.name, inputs=(self.source,), outputs=outputs, fused=fused)
        )


def positions(network: Network) -> dict[str, int]:
    """Return the position of each layer, by name."""
    return {layer.name: index for index, layer in enumerate(network.layers)}


def readings(
    end: Layer, rewriter: Rewriter, position: Mapping[str, int], numbers: Numbers, most: int
) -> Iterator[Pattern]:
    """Yield patterns that end in `end`, with ever more layers, that depend on a single tensor.

    That tensor has the shape of the output of `end`. `numbers` accepts all layers; they are at most
    `most`.
    """
    network = rewriter.network
    layers: list[Layer] = []
    constants: dict[str, float] = {}
    open_names: set[str] = set(end.outputs)
    while len(layers) < most:
        producers = [rewriter.producer(name) for name in open_names]
        writers = [layer for layer in producers if layer is not None]
        if not writers:
            return
        last = max(writers, key=lambda layer: position[layer.name])
        layer_constants = numbers(last, rewriter)
        if layer_constants is None or not (last is end or _inside(last, layers, rewriter)):
            return
        layers.insert(0, last)
        constants.update(layer_constants)
        open_names -= set(last.outputs)
        open_names |= {name for name in last.inputs if name not in layer_constants}
        if len(open_names) == 1:
            (source,) = open_names
            if network.shape(source) == network.shape(end.output):
                yield Pattern(source, tuple(layers), dict(constants))


def number_by_number(layer: Layer, rewriter: Rewriter) -> dict[str, float] | None:
    """Return the constants that an element-wise layer reads; None for other layers."""
    network = rewriter.network
    if not isinstance(layer, Neuron | Elementwise):
        return None
    if isinstance(layer, Elementwise) and layer.kind not in _COMPUTED:
        return None
    if network.tensors[layer.output].dtype != "float32":
        return None
    names = [name for name in layer.inputs if name in network.constants]
    if any(rewriter.constant(name).elements != 1 for name in names):
        return None
    return {name: float(rewriter.constant(name).value().item()) for name in names}


def _inside(layer: Layer, behind: Sequence[Layer], rewriter: Rewriter) -> bool:
    network = rewriter.network
    readers = {reader.name for reader in network.consumers.get(layer.output, ())}
    names = {name for reader in behind for name in (reader.name, *reader.fused)}
    return layer.output not in network.outputs and readers <= names


_COMPUTED: Mapping[ElementwiseKind, Callable[[Real, Real], Real]] = {
    "sum": np.add,
    "product": np.multiply,
    "sub": np.subtract,
    "div": np.divide,
    "max": np.maximum,
    "min": np.minimum,
}


def computed(layer: Layer, inputs: Sequence[Real]) -> Real:
    """Return the output of an element-wise layer."""
    if isinstance(layer, Neuron):
        return layer.values(inputs[0])
    assert isinstance(layer, Elementwise)
    result, *others = inputs
    for other in others:
        result = _COMPUTED[layer.kind](result, other)
    return np.clip(result, layer.clamp.low, layer.clamp.high)


Runs = tuple[tuple[int, int], ...]


def in_place(shape: Shape) -> Runs:
    """Return the runs of elements in their original order."""
    return _joined([(math.prod(shape), 1)])


def permuted(runs: Runs, shape: Shape, permutation: Sequence[int]) -> Runs | None:
    """Return the runs with the axes of `shape` permuted; None if an axis splits a run unevenly."""
    axes = _by_axis(runs, shape)
    if axes is None:
        return None
    return _joined([run for axis in permutation for run in axes[axis]])


def view(runs: Runs) -> tuple[Shape, tuple[int, ...]]:
    """Return the shape with the fewest axes, and its permutation, that give these runs."""
    order = sorted(range(len(runs)), key=lambda run: -runs[run][1])
    shape = tuple(runs[run][0] for run in order)
    return shape, tuple(order.index(run) for run in range(len(runs)))


def _by_axis(runs: Runs, shape: Shape) -> list[list[tuple[int, int]]] | None:
    remaining = list(runs)
    axes: list[list[tuple[int, int]]] = []
    for size in reversed(shape):
        axis: list[tuple[int, int]] = []
        while size > 1:
            length, stride = remaining.pop()
            if length > size:
                if length % size:
                    return None
                remaining.append((length // size, stride * size))
                length = size
            elif size % length:
                return None
            axis.insert(0, (length, stride))
            size //= length
        axes.insert(0, axis)
    return axes


def _joined(runs: Sequence[tuple[int, int]]) -> Runs:
    joined: list[tuple[int, int]] = []
    for length, stride in runs:
        if length == 1:
            continue
        if joined and joined[-1][1] == length * stride:
            joined[-1] = (joined[-1][0] * length, stride)
        else:
            joined.append((length, stride))
    return tuple(joined)
