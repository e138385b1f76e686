"""Helps passes to walk a network in order while layers absorb their consumers."""

from collections import Counter
from collections.abc import Callable
from typing import Any

import numpy.typing as npt

from hexsim.graph.ir import Constant, Layer, Network, Shape

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
        self, layer: Layer, name: str, shape: Shape, change: Callable[[Array], Array]
    ) -> str:
        """Add the constant `change` of `name` and return its name; a shared one gets a new name."""
        label = name if self._uses[name] <= 1 else f"{layer.name}.{name}"
        self._constants[label] = self.constant(name).derive(shape, change, label)
        return label

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


def new_name(names: set[str], wanted: str) -> str:
    """Return `wanted`, with a number if it is in `names`, and add it to `names`."""
    name, count = wanted, 1
    while name in names:
        name, count = f"{wanted}_{count}", count + 1
    names.add(name)
    return name


def is_private(network: Network, name: str) -> bool:
    """Return whether exactly one layer reads tensor `name` and it is no output of the network."""
    return len(network.consumers.get(name, ())) == 1 and name not in network.outputs


def absorbed(layer: Layer, other: Layer) -> dict[str, object]:
    """Return the changed fields of `layer` when it absorbs `other`, whose output it then writes."""
    return {
        "outputs": other.outputs,
        "fused": (*layer.fused, other.name, *other.fused),
    }
