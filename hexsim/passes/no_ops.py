"""Removes layers without effect, and joins consecutive permutes or reshapes.

Removes layers whose results are not used.
"""

import math
from collections.abc import Mapping

from hexsim.graph.ir import Layer, Network
from hexsim.layers import Concat, Elementwise, Neuron, Permute, Reshape
from hexsim.layers._per_pixel import broadcast
from hexsim.layers.elementwise import ElementwiseKind

_BEYOND_ALL: Mapping[ElementwiseKind, float] = {"max": -math.inf, "min": math.inf}
"""The operands without effect."""


def remove_no_ops(network: Network) -> Network:
    """Remove layers without effect (a dropout, an identity, a transpose that moves nothing).

    1. A Permute of a Permute becomes one Permute, a Reshape of a Reshape one Reshape.
    2. The layer type decides what is a no-op (`Layer.is_no_op`); a layer that reads a constant is
       none. Operands of a Concat without elements are removed, and so are infinite bounds of a
       maximum or minimum.
    3. Readers of a no-op's output read its input instead.
    4. If the output is an output of the network, the layer that writes the input writes it instead.
       If that is impossible (the input is itself an input or output of the network), the no-op
       stays.
    """
    names: dict[str, str] = {}
    layers: dict[str, Layer] = {}
    writers: dict[str, str] = {}
    for original in network.layers:
        layer = original.replace(inputs=tuple(names.get(name, name) for name in original.inputs))
        if isinstance(layer, Permute | Reshape):
            layer = _joined(layer, layers.get(writers.get(layer.inputs[0], "")))
        if isinstance(layer, Concat):
            layer = _with_elements(layer, network)
        if isinstance(layer, Elementwise) and layer.kind in _BEYOND_ALL:
            layer = _with_bounds(layer, network)
        if is_no_op(layer, network):
            (source,) = layer.inputs
            if layer.output not in network.outputs:
                names[layer.output] = source
                continue
            if source in writers and source not in network.outputs:
                names = {
                    name: layer.output if new == source else new for name, new in names.items()
                }
                names[source] = layer.output
                _rename(layers, source, layer.output)
                writers[layer.output] = writers.pop(source)
                continue
        layers[layer.name] = layer
        writers.update(dict.fromkeys(layer.outputs, layer.name))
    return network.with_layers(layers.values())


def _joined(layer: Permute | Reshape, before: Layer | None) -> Layer:
    if isinstance(layer, Reshape):
        return layer.replace(inputs=before.inputs) if isinstance(before, Reshape) else layer
    if not isinstance(before, Permute):
        return layer
    permutation = tuple(before.permutation[axis] for axis in layer.permutation)
    return layer.replace(inputs=before.inputs, permutation=permutation)


def _with_elements(layer: Concat, network: Network) -> Concat:
    """Return the Concat of the operands that have elements; unchanged if none has."""
    inputs = tuple(name for name in layer.inputs if 0 not in network.shape(name))
    return layer.replace(inputs=inputs or layer.inputs)


def _with_bounds(layer: Elementwise, network: Network) -> Layer:
    """Return the maximum without operands of minus infinity, or the minimum without infinity.

    With a single operand left it becomes a clamp.
    """
    inputs = tuple(
        name
        for name in layer.inputs
        if name not in network.constants
        or not (network.constants[name].value() == _BEYOND_ALL[layer.kind]).all()
    )
    shape = network.shape(layer.output)
    if not inputs or layer.inputs == inputs or broadcast(*map(network.shape, inputs)) != shape:
        return layer
    if len(inputs) > 1:
        return layer.replace(inputs=inputs)
    return Neuron(
        name=layer.name,
        inputs=inputs,
        outputs=layer.outputs,
        fused=layer.fused,
        function="clamp",
        clamp=layer.clamp,
    )


def is_no_op(layer: Layer, network: Network) -> bool:
    """Return whether `layer` has no effect (rule 2)."""
    if not layer.inputs or layer.inputs[0] not in network.tensors:
        return False
    return layer.is_no_op(network.input_shapes(layer))


def _rename(layers: dict[str, Layer], old: str, new: str) -> None:
    """Give a tensor another name in all layers so far."""
    for label, layer in layers.items():
        if old in layer.inputs or old in layer.outputs:
            layers[label] = layer.replace(
                inputs=tuple(new if name == old else name for name in layer.inputs),
                outputs=tuple(new if name == old else name for name in layer.outputs),
            )


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
