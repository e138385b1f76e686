"""Activations as Relu or as their hard forms, which need retraining.

Relu6 is not tried: a layer absorbs it as it absorbs Relu, at the same cost.
"""

from collections.abc import Mapping
from functools import partial
from typing import Any

from hexsim.graph.ir import Network
from hexsim.layers import RELU, Clamp, Neuron
from hexsim.passes.fuse_clamps import fuse_clamps
from hexsim.studies.decision.changes.change import Change


def with_functions(others: Mapping[str, Mapping[str, Any]], network: Network) -> Network | None:
    """Return the network with activations replaced, but for those that write outputs.

    `others` has the changed fields by function. A new clamp is fused into the layer before it.
    """
    layers = tuple(
        layer.replace(**others.get(layer.function, {}))
        if isinstance(layer, Neuron) and layer.output not in network.outputs
        else layer
        for layer in network.layers
    )
    return None if layers == network.layers else fuse_clamps(network.with_layers(layers))


_SMOOTH = ("silu", "hard_swish", "mish", "gelu", "gelu_tanh", "softplus", "elu", "leaky_relu")
_RELUS = {function: {"function": "clamp", "clamp": RELU} for function in _SMOOTH}
_HARD: Mapping[str, Mapping[str, Any]] = {
    "silu": {"function": "hard_swish"},
    "sigmoid": {"function": "hard_sigmoid", "alpha": 1 / 6, "beta": 0.5},
    "tanh": {"function": "clamp", "clamp": Clamp(-1.0, 1.0)},
}
CHANGES = (
    Change("activations as Relu", partial(with_functions, _RELUS)),
    Change("activations as hard forms", partial(with_functions, _HARD)),
)
