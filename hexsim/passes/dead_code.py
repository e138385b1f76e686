"""Removes layers whose results are not used."""

from hexsim.graph.ir import Layer, Network


def remove_dead_code(network: Network) -> Network:
    """Remove layers that contribute to no output of the network.

    1. A layer stays if one of its outputs is an output of the network or is read by a layer
       that stays.
    """
    needed = set(network.outputs)
    layers: list[Layer] = []
    for layer in reversed(network.layers):
        if needed.intersection(layer.outputs):
            layers.append(layer)
            needed.update(layer.inputs)
    return network.with_layers(reversed(layers))
