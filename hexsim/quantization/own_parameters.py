"""Gives every layer parameters of its own, so that they can be changed one layer at a time."""

from collections import Counter

import numpy as np

from hexsim.graph.ir import Constant, Network
from hexsim.layers import Weighted


def with_own_parameters(network: Network) -> Network:
    """Return the network with parameters that belong to one layer only, for layers with weights.

    1. A constant that several layers use is copied for each layer, as `<layer>.<constant>`.
    2. A layer without bias gets a bias of zeros, `<layer>.bias`.
    """
    uses = Counter(
        name
        for layer in network.layers
        for name in (*layer.inputs, *layer.parameters, *layer.statistics)
    )
    layers, constants = [], []
    for layer in network.layers:
        if isinstance(layer, Weighted):
            changes = {}
            for field in ("weight", "bias", "moments"):
                name = getattr(layer, field, None)
                if name is not None and uses[name] > 1:
                    constant = network.constants[name]
                    changes[field] = f"{layer.name}.{name}"
                    constants.append(constant.derive(constant.shape, np.copy, changes[field]))
            if layer.bias is None:
                changes["bias"] = f"{layer.name}.bias"
                zeros = np.zeros(layer.output_channels, np.float32)
                constants.append(Constant(changes["bias"], zeros.shape, zeros))
            layer = layer.replace(**changes)
        layers.append(layer)
    return network.with_layers(layers, constants=constants)
