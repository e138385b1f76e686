"""Helps passes to walk a network in order while layers absorb their consumers."""

from collections import Counter
from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import Any

import numpy as np
import numpy.typing as npt

from hexsim.graph.ir import Constant, Layer, Network, Shape

Array = npt.NDArray[Any]
_ONE = Constant("one", (), np.ones(()))


class Derived(Constant):
    """A constant with the numbers of the constant `origin` in another shape or order.

    A pass may have multiplied them by `factor`, one number or one for each channel; if it is None,
    they were changed otherwise.
    """

    __slots__ = ("factor", "origin")

    def __init__(
        self,
        source: Constant,
        shape: Shape,
        change: Callable[[Array], Array],
        name: str,
        factor: Constant | None = _ONE,
    ) -> None:
        super().__init__(name, shape, lambda: change(source.value()), source.dtype)
        self.origin, self.factor = source.name, factor
        if isinstance(source, Derived):
            self.origin, self.factor = source.origin, _product(source.factor, factor)


def _product(first: Constant | None, second: Constant | None) -> Constant | None:
    """Return the factor of two changes, one after the other."""
    if first is None or second is None:
        return None

    def product() -> Array:
        return np.asarray(first.value().reshape(-1) * second.value().reshape(-1))

    return Constant("factor", (max(first.elements, second.elements),), product, first.dtype)


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
        factor: Constant | None = _ONE,
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
    return {
        "outputs": other.outputs,
        "fused": (*layer.fused, other.name, *other.fused),
    }
