"""Convert layers where the data type of activations changes between producer and consumer.

1. A layer computes in the type of its output: quantised values ("codes") or floats, of a width.
2. An operand of another type is converted first. Codes converted to codes keep their range; floats
   become codes of their calibrated range.
3. Layers that read one tensor in one type share a Convert layer, right before the first of them.
4. An opaque layer computes in float and reads every type; a tensor of no stated type fits all.

Source: the SNPE guide of 2025, mixed precision: Convert layers are inserted where the width or
type of activations changes (documented); that the layer's type is its output's, and that the
range stays, is our reading.
"""

import dataclasses
from collections.abc import Mapping

from hexsim.graph.ir import Layer, Network, Tensor
from hexsim.layers import Convert, Opaque
from hexsim.quantization.encodings import Encoding
from hexsim.quantization.model import Model


def with_conversions(model: Model, ranges: Mapping[str, Encoding] | None = None) -> Model:
    """Return `model` with a Convert layer where the type of an operand differs from its layer's.

    `ranges` has the encodings of float tensors for fixed-point layers that read them, unless
    `model` already has those of the Convert layers. A model without such operands is returned
    unchanged.
    """
    converts: dict[tuple[str, str], Layer] = {}
    activations, floats, origins = dict(model.activations), dict(model.floats), dict(model.origins)
    layers: list[Layer] = []
    for layer in model.network.layers:
        wanted = model.data_type(layer.outputs[0])
        if wanted is None or isinstance(layer, Convert | Opaque):
            layers.append(layer)
            continue
        inputs = []
        for name in layer.inputs:
            data_type = model.data_type(name)
            if data_type is None or data_type == wanted:
                inputs.append(name)
                continue
            key = (name, wanted)
            if key not in converts:
                converts[key] = _convert(name, wanted, model.network)
                converted, result = converts[key].output, layer.outputs[0]
                origins[converted] = f"the range of '{name}'"
                if result in model.floats:
                    floats[converted], origins[converted] = (
                        model.floats[result],
                        f"as layer '{layer.name}' is",
                    )
                elif converted not in activations:
                    old = model.activations.get(name) or (ranges or {})[name]
                    activations[converted] = _same_range(old, model.activations[result].bitwidth)
                layers.append(converts[key])
            inputs.append(converts[key].output)
        layers.append(layer.replace(inputs=tuple(inputs)))
    if not converts:
        return model
    tensors = [_like(model.network, name, layer.output) for (name, _), layer in converts.items()]
    network = model.network.with_layers(layers, tensors)
    return dataclasses.replace(
        model, network=network, activations=activations, floats=floats, origins=origins
    )


def _convert(name: str, data_type: str, network: Network) -> Convert:
    """Return a layer that writes `name` as `data_type` to a tensor named like the layer."""
    new_name = f"{name}_convert_{data_type}"
    while new_name in network.tensors or new_name in network.constants:
        new_name += "_"
    return Convert(name=new_name, inputs=(name,), outputs=(new_name,))


def _same_range(encoding: Encoding, bits: int) -> Encoding:
    """Return the range of `encoding` in `bits` bits; it already holds zero and is wide enough."""
    if encoding.bitwidth == bits:
        return encoding
    return Encoding.from_range(encoding.min, encoding.max, bits, minimum_range=0.0)


def _like(network: Network, name: str, own: str) -> Tensor:
    known = network.tensors.get(name)
    return Tensor(own, network.shape(name), () if known is None else known.order)
