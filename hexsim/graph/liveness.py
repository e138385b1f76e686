"""How many elements of a network's tensors exist at once."""

from collections import Counter
from collections.abc import Iterable

from hexsim.graph.ir import Layer, Network


def elements_at_once(network: Network, kept: Iterable[str]) -> int:
    """Return the most elements that exist at once while the layers run in their order.

    A tensor exists from the layer that writes it, an input from the start, until the last layer
    that reads it has run; the tensors in `kept` exist until the end.
    """
    freed = _freed(network, kept)
    existing = most = _elements(network, network.inputs)
    for at, layer in enumerate(network.layers):
        existing += _elements(network, layer.outputs)
        most = max(most, existing)
        existing -= freed[at]
    return most


def parts_within(network: Network, most: int) -> list[list[Layer]]:
    """Return the layers in consecutive parts that end before more than `most` elements exist.

    What a part writes exists until the part ends, what others read later also beyond. A layer that
    needs more alone is a part of its own.
    """
    freed = _freed(network, network.outputs)
    parts: list[list[Layer]] = [[]]
    existing, unread = _elements(network, network.inputs), 0
    for at, layer in enumerate(network.layers):
        written = _elements(network, layer.outputs)
        if parts[-1] and existing + written > most:
            parts.append([])
            existing, unread = existing - unread, 0
        parts[-1].append(layer)
        existing, unread = existing + written, unread + freed[at]
    return parts


def _freed(network: Network, kept: Iterable[str]) -> Counter[int]:
    """Return how many elements no layer reads any more, by the place of the layer before that."""
    ends = {name: at for at, layer in enumerate(network.layers) for name in layer.outputs}
    ends |= {name: at for at, layer in enumerate(network.layers) for name in layer.inputs}
    freed = Counter[int]()
    for name in (ends.keys() & network.tensors.keys()).difference(kept):
        freed[ends[name]] += network.tensors[name].elements
    return freed


def _elements(network: Network, names: Iterable[str]) -> int:
    return sum(network.tensors[name].elements for name in names)
