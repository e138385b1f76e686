"""Turns Relu6 into Relu, because 6 is no longer the bound once a channel is rescaled.

This changes the function of the network wherever a value exceeded 6. Only layers inside a chain
lose their bound (inferred: the guide says that Relu6 is turned into Relu, not where).
"""

from collections.abc import Collection, Sequence

from hexsim.graph.ir import Network
from hexsim.layers import RELU, RELU6, Convolution
from hexsim.quantization.equalization.chains import Chain, convolutions


def bounded(chains: Sequence[Chain], network: Network) -> tuple[str, ...]:
    """Return the names of the layers that end in a Relu6 and pass scales on."""
    inner = [name for chain in chains for name in chain.layers[:-1]]
    return tuple(layer.name for layer in convolutions(inner, network) if layer.clamp == RELU6)


def without_relu6(network: Network, names: Collection[str]) -> Network:
    """Return the network with a Relu at the end of the layers `names`."""
    return network.with_layers(
        layer.replace(clamp=RELU)
        if isinstance(layer, Convolution) and layer.name in names
        else layer
        for layer in network.layers
    )
