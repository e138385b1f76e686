"""Finds the layer of a network that a name in a profile means.

The names of nodes are compared as they are, then without the differences that the tools make:
slashes, colons, dots and underscores are equal, and those at the ends do not count. A layer is
also found by a node that it took over, and by a tensor that it writes. A name that means several
layers finds none. Where a profile has no names, the numbers of the layers count.
"""

import re
from collections.abc import Iterable, Mapping, Sequence

from hexsim.deployment.phone_profile.profile import MeasuredLayer, PhoneProfile
from hexsim.errors import HexsimError
from hexsim.graph.ir import Layer, Network

_OTHER = re.compile(r"[^0-9A-Za-z]+")


class LayerNames:
    """The names under which the layers of a network may be known to a phone."""

    def __init__(self, network: Network, profile: PhoneProfile) -> None:
        self._network = network
        self._exact = _unique((name, layer) for layer in network.layers for name in _nodes(layer))
        tensors = _unique((name, layer) for layer in network.layers for name in layer.outputs)
        self._normalised = [
            _unique((normalised(name), layer) for name, layer in names)
            for names in (
                [(name, layer) for layer in network.layers for name in _nodes(layer)],
                list(tensors.items()),
            )
        ]
        self.inputs = frozenset(map(normalised, network.inputs))
        layers = [layer for run in profile.runs for layer in run.layers]
        self._by_id: Mapping[int, Layer | None] = {}
        if not any(layer.name for layer in layers):
            self._by_id = _numbered(network, layers, profile)

    def layer(self, measured: MeasuredLayer) -> Layer | None:
        """Return the layer that `measured` means, or None."""
        if self._by_id:
            return None if measured.id is None else self._by_id.get(measured.id)
        if not measured.name:
            return None
        if exact := self._exact.get(measured.name):
            return exact
        key = normalised(measured.name)
        if key in self.inputs:
            return None
        return next((names[key] for names in self._normalised if key in names), None)


def normalised(name: str) -> str:
    """Return a name without what the tools change in it."""
    return _OTHER.sub("_", name).strip("_")


def _nodes(layer: Layer) -> tuple[str, ...]:
    return (layer.name, *layer.fused)


def _unique(pairs: Iterable[tuple[str, Layer]]) -> dict[str, Layer]:
    """Return the layers by name, without names that several layers have."""
    layers: dict[str, Layer] = {}
    several = set()
    for name, layer in pairs:
        if layers.setdefault(name, layer) is not layer:
            several.add(name)
    return {name: layer for name, layer in layers.items() if name and name not in several}


def _numbered(
    network: Network, measured: Sequence[MeasuredLayer], profile: PhoneProfile
) -> Mapping[int, Layer | None]:
    """Return the layers by number; raise HexsimError if the counts do not fit.

    A file converted here has a number per layer; one of the SNPE converter has one for each node
    that a layer took over too, such as an activation.
    """
    inputs: list[Layer | None] = [None] * (len(network.inputs) if profile.inputs_have_ids else 0)
    layers = [*inputs, *network.layers]
    nodes = [*inputs, *(layer for layer in network.layers for _ in _nodes(layer))]
    count = 1 + max((layer.id for layer in measured if layer.id is not None), default=-1)
    for numbered in (layers, nodes):
        if len(numbered) == count:
            return dict(enumerate(numbered))
    raise HexsimError(
        f"the {profile.format} gives numbers and no names, up to {count - 1}, and network "
        f"'{network.name}' has numbers up to {len(layers) - 1}, or to {len(nodes) - 1} with one "
        "for each fused node; give a profile with names, such as the benchmark's CSV"
    )
