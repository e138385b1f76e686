"""Why the tensor engine refuses a layer: support rules, encodings and the limits of a release.

Rules for the layer alone are in `hexsim.layers.support`. Encodings: activations of 8 bits,
of 16 in later releases, and weights of 8 bits with one encoding per tensor (QNN HTA back end).
Releases: `hta_` entries of a stack's [partitioning] table.
"""

from hexsim.datasheets.stacks.stack import Partitioning
from hexsim.graph.ir import Layer, Network
from hexsim.graph.nhwc import as_nhwc
from hexsim.layers.elementwise import Elementwise
from hexsim.quantization.encodings import AxisEncoding
from hexsim.quantization.float_layers import refusal_in
from hexsim.quantization.model import Model

_WEIGHT_BITS = 8


def hta_refusal(layer: Layer, model: Model, release: Partitioning) -> str | None:
    """Return why the HTA refuses `layer` of `model` under `release`, None if it takes it."""
    network = model.network
    refused = refusal_in(model, layer, "hta") or _of_release(layer, network, release)
    if refused is None and model.quantized:
        refused = _of_encodings(layer, model, release)
    return refused


def _of_release(layer: Layer, network: Network, release: Partitioning) -> str | None:
    limit = release.hta_input_channels
    for name in layer.inputs:
        channels = as_nhwc(network.shape(name))[3]
        if limit is not None and name in network.inputs and channels > limit:
            return f"input '{name}' has {channels} channels and the HTA takes at most {limit}"
    constants = any(name in network.constants for name in layer.inputs)
    if isinstance(layer, Elementwise) and constants and not release.hta_constants:
        return "elementwise layers with a constant run on the HTA in later releases only"
    return None


def _of_encodings(layer: Layer, model: Model, release: Partitioning) -> str | None:
    for name in (*layer.inputs, *layer.outputs):
        encoding = model.activations.get(name)
        if encoding is not None and encoding.bitwidth not in release.hta_activation_bits:
            return f"activations of {encoding.bitwidth} bits do not run on the HTA of this release"
    weight = model.parameters.get(layer.parameters[0]) if layer.parameters else None
    if isinstance(weight, AxisEncoding):
        return "the HTA takes one weight encoding per tensor, not one per channel"
    if weight is not None and weight.bitwidth != _WEIGHT_BITS:
        return f"the HTA takes weights of {_WEIGHT_BITS} bits, not {weight.bitwidth}"
    return None
