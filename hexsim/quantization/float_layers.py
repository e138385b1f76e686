"""Layers of a quantised network that compute in floats, and the Convert layers around them.

Fixed-point runtimes refuse both, but for a tensor processor, which runs float16 beside codes in one
graph. HVX of V60 to V66 has no float arithmetic, so the layers between two subnets of such a
runtime run on the CPU, and so do the Convert layers around them (our reading; SNPE's support table
lists Convert for CPU and DSP).

1. A layer computes in the type of its output: codes or floats, of a width.
2. An operand of another type is converted first. Codes converted to codes keep their range; floats
   become codes of their calibrated range.
3. Layers that read one tensor in one type share a Convert layer, right before the first of them.
4. An opaque layer computes in float and reads every type; a tensor of no stated type fits all.

Source: the SNPE guide of 2025, mixed precision (documented); that the layer's type is its output's,
and that the range stays, is our reading.
"""

import dataclasses
from collections.abc import Mapping

from hexsim.datasheets.operators import ElementType, Operators, named
from hexsim.graph.ir import Layer, Network, Tensor
from hexsim.graph.support import HTP
from hexsim.layers import Convert, Opaque
from hexsim.layers.support import refusal
from hexsim.quantization.encodings import Encoding
from hexsim.quantization.model import Model
from hexsim.runtimes import FIXED_POINT, LayerTarget


def converts_floats(layer: Layer, model: Model) -> bool:
    """Return True if `layer` converts between codes and floats, or between widths of floats."""
    if not model.quantized or not isinstance(layer, Convert):
        return False
    return layer.output in model.floats or layer.inputs[0] in model.floats


def is_half_float(layer: Layer, model: Model) -> bool:
    """Return True if `layer` computes in float16 amid codes, or converts to or from it."""
    names = (layer.inputs[0], layer.output) if converts_floats(layer, model) else layer.outputs[:1]
    return model.quantized and {model.floats[n] for n in names if n in model.floats} == {16}


def refusal_in(
    model: Model, layer: Layer, runtime: LayerTarget, operators: Operators | None = None
) -> str | None:
    """Return why `runtime` refuses a layer of `model`, in one sentence, or None if it takes it.

    `operators` is the release; None for the last SNPE 1.x.
    """
    if runtime == "htp" and is_half_float(layer, model):
        return refusal(layer, "htp_fp16", model.network, operators)
    if model.quantized and runtime in (*FIXED_POINT, "hta"):
        if converts_floats(layer, model):
            return f"it converts for a float layer, which {runtime} does not take"
        if layer.outputs[0] in model.floats:
            bits = model.floats[layer.outputs[0]]
            numbers = "integers and float16" if runtime == "htp" else "integers"
            return f"it is float{bits} in this network, and {runtime} computes in {numbers}"
    return refusal(layer, runtime, model.network, operators)


def element_type(model: Model, layer: Layer, runtime: LayerTarget) -> ElementType | None:
    """Return the type of element of a layer; None if all its tensors are indices or masks.

    Of operands of several widths the narrowest counts: a product of 16-bit codes with 8-bit codes
    needs no more than one of 8 bits does. Tensors of a quantised network without an encoding are
    left out.
    """
    if runtime == "htp_fp16":
        tensors = (model.network.tensors.get(name) for name in (*layer.inputs, *layer.outputs))
        return "float16" if any(t is None or t.dtype == "float32" for t in tensors) else None
    for names in (layer.inputs, layer.outputs):
        bits = [model.activations[name].bitwidth for name in names if name in model.activations]
        if bits:
            return "int8" if min(bits) <= 8 else "int16"
    return None


def element_refusal(
    model: Model, layer: Layer, runtime: LayerTarget, release: Operators
) -> str | None:
    """Return why the tensor processor of a release refuses the type of element, or None."""
    element = element_type(model, layer, runtime) if runtime in HTP else None
    if element is None or release.arch is None:
        return None
    axes = len(model.network.layer_outputs(layer)[0])
    variant = layer.variant(model.network.input_shapes(layer))
    keys = (named(layer.type, f"{axes} axes"), named(layer.type, variant), layer.type)
    return release.table.element_refusal(keys, element, release.chip, release.arch)


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
                new_name = f"{name}_convert_{wanted}"
                while new_name in model.network.tensors or new_name in model.network.constants:
                    new_name += "_"
                converts[key] = Convert(name=new_name, inputs=(name,), outputs=(new_name,))
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


def _same_range(encoding: Encoding, bits: int) -> Encoding:
    """Return the range of `encoding` in `bits` bits; it already holds zero and is wide enough."""
    if encoding.bitwidth == bits:
        return encoding
    return Encoding.from_range(encoding.min, encoding.max, bits, minimum_range=0.0)


def _like(network: Network, name: str, own: str) -> Tensor:
    known = network.tensors.get(name)
    return Tensor(own, network.shape(name), () if known is None else known.order)
