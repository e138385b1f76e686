"""Convert layers where the width of activations changes between producer and consumer.

1. A layer computes in the width of its output.
2. An operand of another width is converted first: its range stays, in codes of the layer's width.
3. Layers that read one tensor in one width share a Convert layer, right before the first of them.
4. An opaque layer computes in float and reads every width; so does a tensor without encoding.

Source: the SNPE guide of 2025, mixed precision: Convert layers are inserted where the width of
activations changes (documented); that the layer's width is its output's, and that the range
stays, is our reading.
"""

from __future__ import annotations

import dataclasses

from hexsim.graph.ir import Layer, Network, Tensor
from hexsim.layers import Convert, Opaque
from hexsim.quantization.encodings import Encoding
from hexsim.quantization.quantized import QuantizedNetwork


def with_conversions(model: QuantizedNetwork) -> QuantizedNetwork:
    """Return `model` with a Convert layer wherever a layer's operand has another width than it.

    A model that needs none is returned as it is.
    """
    made: dict[tuple[str, int], Layer] = {}
    activations, origins = dict(model.activations), dict(model.origins)
    layers: list[Layer] = []
    for layer in model.network.layers:
        wanted = activations.get(layer.outputs[0])
        if wanted is None or isinstance(layer, Convert | Opaque):
            layers.append(layer)
            continue
        inputs = []
        for name in layer.inputs:
            found = activations.get(name)
            if found is None or found.bitwidth == wanted.bitwidth:
                inputs.append(name)
                continue
            key = (name, wanted.bitwidth)
            if key not in made:
                made[key] = _convert(name, wanted.bitwidth, model.network)
                activations[made[key].output] = _same_range(found, wanted.bitwidth)
                origins[made[key].output] = f"the range of '{name}'"
                layers.append(made[key])
            inputs.append(made[key].output)
        layers.append(layer.replace(inputs=tuple(inputs)))
    if not made:
        return model
    tensors = [_like(model.network, name, layer.output) for (name, _), layer in made.items()]
    network = model.network.with_layers(layers, tensors)
    return dataclasses.replace(model, network=network, activations=activations, origins=origins)


def _convert(name: str, bits: int, network: Network) -> Convert:
    """A layer that writes `name` in `bits` bits to a tensor of its own name."""
    own = f"{name}_convert_uFxp_{bits}"
    while own in network.tensors or own in network.constants:
        own += "_"
    return Convert(name=own, inputs=(name,), outputs=(own,))


def _same_range(encoding: Encoding, bits: int) -> Encoding:
    """The range of `encoding` in `bits` bits; it holds zero and has its minimum width already."""
    return Encoding.from_range(encoding.min, encoding.max, bits, minimum_range=0.0)


def _like(network: Network, name: str, own: str) -> Tensor:
    known = network.tensors.get(name)
    return Tensor(own, network.shape(name), () if known is None else known.order)
