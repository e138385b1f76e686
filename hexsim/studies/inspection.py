"""Describes a network layer by layer, with the ids and terms of snpe-dlc-info.

Attributes are the fields of a layer that differ from their defaults, so that new layer types need
no change here.
"""

import dataclasses
import math
from collections.abc import Iterator, Sequence
from typing import Any

from hexsim.datasheets.operators import Operators
from hexsim.graph import domains
from hexsim.graph.ir import Layer, Network, Tensor
from hexsim.graph.network_ends import PLAIN
from hexsim.layers import Clamp, Elementwise, Neuron, Opaque, Window
from hexsim.layers.images import CONVERTED
from hexsim.planning.placement import cpu_reason
from hexsim.quantization.encodings import AxisEncoding, Encoding
from hexsim.quantization.float_layers import refusal_in
from hexsim.quantization.model import Model
from hexsim.results.info import InfoLayer
from hexsim.runtimes import LayerTarget

_CODES = "codes in the ONNX file"
_SNPE_TERMS = {name: name for name in ("input_encoding_in", "input_encoding_out")} | {
    "output_channels": "num filters"
}


def inspect(
    model: Model, targets: Sequence[LayerTarget] = (), operators: Operators | None = None
) -> tuple[InfoLayer, ...]:
    """Return the inputs and layers of `model` in order, without reading weights.

    Layers are tried on `targets`; without `operators` by the rules of their last releases.
    """
    network = model.network
    htp = operators or Operators.of("qnn-2")

    def takes(layer: Layer, target: LayerTarget) -> bool:
        if target == "htp":
            return not cpu_reason(model, layer, target, htp)
        return refusal_in(model, layer, target, operators) is None

    rows = [
        _data(index, network.tensors[name], model, targets)
        for index, name in enumerate(network.inputs)
    ]
    for index, layer in enumerate(network.layers, start=len(rows)):
        taking = tuple(target for target in targets if takes(layer, target))
        rows.append(_layer(index, layer, model, taking))
    return tuple(rows)


def constants_by_role(layer: Layer, network: Network) -> dict[str, str]:
    """Return the constants of a layer by role: its fields (weight, bias), then its operands."""
    fields = _type_fields(layer)
    roles = {field.name: value for field, value in fields if value in layer.parameters}
    operands = [name for name in layer.inputs if name in network.constants]
    return roles | _numbered("operand", operands)


def _data(index: int, tensor: Tensor, model: Model, targets: Sequence[LayerTarget]) -> InfoLayer:
    return InfoLayer(
        id=index,
        name=tensor.name,
        type="data",
        kind="data",
        inputs=(tensor.name,),
        outputs=(tensor.name,),
        shapes=(tensor.shape,),
        runtimes=tuple(targets),
        attributes=_input_attributes(model.network, tensor.name),
        encodings=_encodings({"output": tensor.name}, model),
        origins=_origins({"output": tensor.name}, model),
        floats=_floats({"output": tensor.name}, model),
        param_count=0,
        macs=0,
        varies=(),
    )


def _input_attributes(network: Network, name: str) -> dict[str, str]:
    attributes, input_format = {"input_preprocessing": "passthrough"}, network.input_format(name)
    attributes |= _codes({_CODES: name}, network)
    if input_format.pictures is not None:
        attributes["pictures"] = str(input_format.pictures)
    if dataclasses.replace(input_format, pictures=None) != PLAIN:
        attributes |= {
            "input_type": input_format.type,
            "input_encoding_in": input_format.encoding,
            "input_encoding_out": "bgr"
            if input_format.encoding in CONVERTED
            else input_format.encoding,
        }
    return attributes


def _codes(roles: dict[str, str], network: Network) -> dict[str, str]:
    """Return the types of quantised inputs or outputs of the ONNX file, by role."""
    coded = network.coded_ends
    return {role: str(coded[name]) for role, name in roles.items() if name in coded}


def _layer(index: int, layer: Layer, model: Model, runtimes: tuple[LayerTarget, ...]) -> InfoLayer:
    network = model.network
    roles = _numbered("output", layer.outputs) | constants_by_role(layer, network)
    return InfoLayer(
        id=index,
        name=layer.name,
        type=layer.type,
        kind=_kind(layer),
        inputs=layer.inputs,
        outputs=layer.outputs,
        shapes=network.layer_outputs(layer),
        runtimes=runtimes,
        attributes=dict(attributes(layer)) | _codes(_numbered(_CODES, layer.outputs), network),
        encodings=_encodings(roles, model),
        origins=_origins(roles, model),
        floats=_floats(roles, model),
        param_count=network.parameter_count(layer),
        macs=network.macs(layer),
        varies=tuple(network.tensors[name].varies for name in layer.outputs),
    )


def _numbered(role: str, names: tuple[str, ...] | list[str]) -> dict[str, str]:
    """Return the names by `role`, `role 1`, `role 2` and so on."""
    return {f"{role} {n}" if n else role: name for n, name in enumerate(names)}


def _encodings(roles: dict[str, str], model: Model) -> dict[str, Encoding | AxisEncoding]:
    if not model.quantized:
        return {}
    encodings = {role: model.encoding(name) for role, name in roles.items()}
    return {role: encoding for role, encoding in encodings.items() if encoding is not None}


def _origins(roles: dict[str, str], model: Model) -> dict[str, str]:
    if not model.quantized:
        return {}
    return {
        role: model.origins[name]
        + (", packed: two codes in a byte" if _is_packed(name, model) else "")
        for role, name in roles.items()
        if name in model.origins
    }


def _is_packed(name: str, model: Model) -> bool:
    return name in model.network.constants and model.packing(name) is not None


def _floats(roles: dict[str, str], model: Model) -> dict[str, str]:
    if not model.quantized:
        return {}
    types = {role: model.data_type(name) for role, name in roles.items() if name in model.floats}
    return {role: type_name for role, type_name in types.items() if type_name is not None}


def _kind(layer: Layer) -> str:
    if isinstance(layer, Elementwise):
        return f"{layer.type}_{layer.kind}"
    if isinstance(layer, Opaque):
        return f"opaque_{layer.type}"
    if isinstance(layer, Neuron):
        function = _clamp(layer.clamp) if layer.function == "clamp" else layer.function
        return f"{layer.type}_{function}"
    return layer.type


def _clamp(clamp: Clamp) -> str:
    return "relu" if clamp.low == 0 and math.isinf(clamp.high) else "relu_min_max"


def attributes(layer: Layer) -> Iterator[tuple[str, str]]:
    """Yield the attributes that differ from their defaults, with their values as text."""
    for field, value in _type_fields(layer):
        if value == field.default or value in layer.parameters:
            continue
        if isinstance(value, Window):
            yield from _window(value)
        elif isinstance(value, Clamp):
            yield "clamp", f"{value.low:g} to {value.high:g}"
        elif not isinstance(value, bytes):
            yield _SNPE_TERMS.get(field.name, field.name.replace("_", " ")), _text(value)
    if layer.fused:
        yield "fused", ", ".join(layer.fused)


def _type_fields(layer: Layer) -> Iterator[tuple[dataclasses.Field[Any], Any]]:
    """Yield the fields that the layer's type adds and a file contains, with their values."""
    own = domains.hints(type(layer)).keys() - domains.hints(Layer).keys()
    for field in dataclasses.fields(layer):
        if field.name in own:
            yield field, getattr(layer, field.name)


def _window(window: Window) -> Iterator[tuple[str, str]]:
    top, left, bottom, right = window.pads
    yield "padding x", f"{left}" if left == right else f"{left} before, {right} after"
    yield "padding y", f"{top}" if top == bottom else f"{top} before, {bottom} after"
    yield "padding mode", "zero"
    yield "stride x", f"{window.strides[1]}"
    yield "stride y", f"{window.strides[0]}"
    yield "kernel", f"{window.kernel[0]}x{window.kernel[1]}"
    if window.dilations != (1, 1):
        yield "dilation", f"{window.dilations[0]}x{window.dilations[1]}"
    if window.ceil_mode:
        yield "ceil mode", "True"


def _text(value: object) -> str:
    if isinstance(value, tuple):
        return ", ".join(_text(item) for item in value)
    return f"{value:g}" if isinstance(value, float) else f"{value}"
