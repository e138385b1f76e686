"""Layers of a quantised network that compute in floats, and the Convert layers around them.

Fixed-point runtimes refuse both, but for a tensor processor, which runs float16 beside codes in one
graph. HVX of V60 to V66 has no float arithmetic, and the layers between
two subnets of such a runtime run on the CPU, where Convert layers turn floats into codes and codes
into floats. SNPE's support table lists Convert for CPU and DSP and does not say which of the two
converts at such a cut, so that is our reading.
"""

from hexsim.datasheets.operators import Operators
from hexsim.graph.ir import Layer
from hexsim.layers import Convert
from hexsim.layers.support import refusal
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
