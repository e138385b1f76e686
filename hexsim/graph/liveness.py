"""How many elements of a network's tensors exist at once."""

from collections.abc import Iterable

from hexsim.graph.ir import Network


def elements_at_once(network: Network, kept: Iterable[str]) -> int:
    """Return the most elements that exist at once while the layers run in their order.

    A tensor exists from the layer that writes it, an input from the start, until the last layer
    that reads it has run; the tensors in `kept` exist until the end.
    """
    ends = {name: at for at, layer in enumerate(network.layers) for name in layer.outputs}
    ends |= {name: at for at, layer in enumerate(network.layers) for name in layer.inputs}
    ends |= dict.fromkeys(kept, len(network.layers))
    freed: dict[int, int] = {}
    for name, at in ends.items():
        if name in network.tensors:
            freed[at] = freed.get(at, 0) + network.tensors[name].elements
    alive = most = sum(network.tensors[name].elements for name in network.inputs)
    for at, layer in enumerate(network.layers):
        alive += sum(network.tensors[name].elements for name in layer.outputs)
        most = max(most, alive)
        alive -= freed.get(at, 0)
    return most
