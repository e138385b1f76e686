"""The type of element in which a layer runs on a tensor processor, and what it refuses for it."""

from hexsim.datasheets.operators import Operators, named
from hexsim.datasheets.operators.table import ElementType
from hexsim.graph.ir import Layer
from hexsim.graph.support import HTP
from hexsim.quantization.model import Model
from hexsim.runtimes import LayerTarget


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
