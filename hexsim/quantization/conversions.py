"""Convert layers where the data type of activations changes between producer and consumer.

1. A layer computes in the type of its output: codes or floats, of a width.
2. An operand of another type is converted first. From codes to codes its range stays, floats
   become codes of the range they were calibrated to.
3. Layers that read one tensor in one type share a Convert layer, right before the first of them.
4. An opaque layer computes in float and reads every type; a tensor of no stated type fits all.

Source: the SNPE guide of 2025, mixed precision: Convert layers are inserted where the width or
type of activations changes (documented); that the layer's type is its output's, and that the
range stays, is our reading.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping

from hexsim.graph.ir import Layer, Network, Tensor
from hexsim.layers import Convert, Opaque
from hexsim.quantization.encodings import Encoding
from hexsim.quantization.model import Model


def with_conversions(model: Model, ranges: Mapping[str, Encoding] | None = None) -> Model:
    """Return `model` with a Convert layer wherever a layer's operand has another type than it.

    `ranges` has the encodings that float tensors take where a fixed-point layer reads them, unless
    `model` has those of the Convert layers already. A model that needs none is returned as it is.
    """
    made: dict[tuple[str, str], Layer] = {}
    activations, floats, origins = dict(model.activations), dict(model.floats), dict(model.origins)
    layers: list[Layer] = []
    for layer in model.network.layers:
        wanted = model.data_type(layer.outputs[0])
        if wanted is None or isinstance(layer, Convert | Opaque):
            layers.append(layer)
            continue
        inputs = []
        for name in layer.inputs:
            found = model.data_type(name)
            if found is None or found == wanted:
                inputs.append(name)
                continue
            key = (name, wanted)
            if key not in made:
                made[key] = _convert(name, wanted, model.network)
                own, result = made[key].output, layer.outputs[0]
                origins[own] = f"the range of '{name}'"
                if result in model.floats:
                    floats[own], origins[own] = model.floats[result], f"as layer '{layer.name}' is"
                elif own not in activations:
                    old = model.activations.get(name) or (ranges or {})[name]
                    activations[own] = _same_range(old, model.activations[result].bitwidth)
                layers.append(made[key])
            inputs.append(made[key].output)
        layers.append(layer.replace(inputs=tuple(inputs)))
    if not made:
        return model
    tensors = [_like(model.network, name, layer.output) for (name, _), layer in made.items()]
    network = model.network.with_layers(layers, tensors)
    return dataclasses.replace(
        model, network=network, activations=activations, floats=floats, origins=origins
    )


def _convert(name: str, data_type: str, network: Network) -> Convert:
    """A layer that writes `name` as `data_type` to a tensor of its own name."""
    own = f"{name}_convert_{data_type}"
    while own in network.tensors or own in network.constants:
        own += "_"
    return Convert(name=own, inputs=(name,), outputs=(own,))


def _same_range(encoding: Encoding, bits: int) -> Encoding:
    """The range of `encoding` in `bits` bits; it holds zero and has its minimum width already."""
    if encoding.bitwidth == bits:
        return encoding
    return Encoding.from_range(encoding.min, encoding.max, bits, minimum_range=0.0)


def _like(network: Network, name: str, own: str) -> Tensor:
    known = network.tensors.get(name)
    return Tensor(own, network.shape(name), () if known is None else known.order)
