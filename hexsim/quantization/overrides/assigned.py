"""Sorts overrides of files without sections into activations and parameters of a network.

Weights, biases and other constants are parameters; everything else is an activation, also a name
that is unknown and is reported later.
"""

from dataclasses import replace

from hexsim.errors import HexsimError
from hexsim.graph.ir import Network
from hexsim.layers import Convolution
from hexsim.quantization.overrides.override import (
    IntegerOverride,
    Override,
    Overrides,
    TensorOverride,
)
from hexsim.quantization.overrides.targets import labels_of


def assigned(overrides: Overrides, network: Network) -> Overrides:
    """Return `overrides` with all of them in sections.

    Raises HexsimError, naming the key, if a weight has its channels on another axis than that of
    its output channels.
    """
    if not overrides.unassigned:
        return overrides
    parameters = {
        *network.constants,
        *overrides.rearranged.values(),
        *(
            label
            for layer in network.layers
            for name in layer.parameters
            for label in labels_of(name, layer, overrides)
        ),
    }
    sections: tuple[dict[str, Override], dict[str, Override]] = ({}, {})
    for key, tensor in overrides.unassigned.items():
        if key in parameters and key not in network.tensors:
            _require_axis(key, tensor, network)
            sections[1][key] = tensor.override
        else:
            sections[0][key] = tensor.override
    activations, of_constants = sections
    return replace(
        overrides,
        activations={**activations, **overrides.activations},
        parameters={**of_constants, **overrides.parameters},
        unassigned={},
    )


def _require_axis(key: str, tensor: TensorOverride, network: Network) -> None:
    """Check the axis of a convolution's weight; other layers have their channels on either axis."""
    override = tensor.override
    if tensor.axis is None or not isinstance(override, IntegerOverride):
        return
    for layer in network.layers:
        if isinstance(layer, Convolution) and layer.weight == key and override.per_channel:
            rank = len(network.constants[key].shape)
            if tensor.axis not in (0, -rank):
                raise HexsimError(
                    f"override '{key}': key 'axis' is {tensor.axis}; the kernels have a scale per "
                    "output channel, which is axis 0 of a convolution's weight"
                )
