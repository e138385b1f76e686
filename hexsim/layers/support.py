"""Which runtime takes which layer, as rules with one sentence each.

A rule names the runtimes it speaks for and says when a layer is refused; its sentence is both
the message a user reads and the documentation. Sources are the SNPE support table and its list
of limitations. Layers that no rule refuses are taken.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from hexsim.graph.ir import Layer, Network
from hexsim.layers.colour_conversion import ColourConversion
from hexsim.layers.elementwise import Elementwise
from hexsim.layers.neuron import Neuron
from hexsim.layers.opaque import Opaque
from hexsim.layers.pad import Pad
from hexsim.layers.softmax import Softmax
from hexsim.runtimes import Runtime

_ACCELERATORS: frozenset[Runtime] = frozenset({"gpu", "gpu_fp16", "dsp", "aip", "fxp_cpu"})
_GPU: frozenset[Runtime] = frozenset({"gpu", "gpu_fp16"})
_INTEGER: frozenset[Runtime] = frozenset({"dsp", "aip", "fxp_cpu"})


@dataclass(frozen=True)
class Rule:
    """One reason for which some runtimes refuse a layer."""

    runtimes: frozenset[Runtime]
    refuses: Callable[[Layer, Network], bool]
    sentence: str


def _is_opaque(layer: Layer, network: Network) -> bool:
    return isinstance(layer, Opaque)


def _is_pad(layer: Layer, network: Network) -> bool:
    return isinstance(layer, Pad)


def _is_elu(layer: Layer, network: Network) -> bool:
    return isinstance(layer, Neuron) and layer.function == "elu"


def _not_float(layer: Layer, network: Network) -> bool:
    tensors = [network.tensors[n] for n in (*layer.inputs, *layer.outputs) if n in network.tensors]
    return any(tensor.dtype != "float32" for tensor in tensors)


def _softmax_not_last(layer: Layer, network: Network) -> bool:
    if not isinstance(layer, Softmax):
        return False
    shape = network.shape(layer.inputs[0])
    inner = shape[max(layer.axes) + 1 :]
    return any(size > 1 for size in inner)


def _more_than_five_axes(layer: Layer, network: Network) -> bool:
    return any(len(shape) > 5 for shape in network.layer_outputs(layer))


def _constant_only(layer: Layer, network: Network) -> bool:
    return isinstance(layer, Elementwise) and not any(n in network.tensors for n in layer.inputs)


def _reads_opaque_input(layer: Layer, network: Network) -> bool:
    return any(network.input_format(name).type == "opaque" for name in layer.inputs)


def _nv21_of_no_bytes(layer: Layer, network: Network) -> bool:
    if not isinstance(layer, ColourConversion) or layer.input_encoding_in != "nv21":
        return False
    return network.input_format(layer.inputs[0]).type != "image"


RULES: tuple[Rule, ...] = (
    Rule(_ACCELERATORS, _is_opaque, "the operator has no layer type on this runtime"),
    Rule(_ACCELERATORS, _not_float, "the layer handles tensors that are not float32"),
    Rule(_GPU, _is_pad, "Pad runs on CPU and DSP only (SNPE layer support table)"),
    Rule(_INTEGER, _is_elu, "Elu runs on CPU and GPU only (SNPE layer support table)"),
    Rule(_INTEGER, _softmax_not_last, "Softmax is supported along the last axis only"),
    Rule(_ACCELERATORS, _more_than_five_axes, "tensors have at most five axes"),
    Rule(_ACCELERATORS, _constant_only, "an elementwise layer needs an operand that varies"),
    Rule(_INTEGER, _reads_opaque_input, "it reads an input of type opaque, which stays float"),
    Rule(_INTEGER, _nv21_of_no_bytes, "NV21 is decoded from bytes, an input of type image"),
)


def refusal(layer: Layer, runtime: Runtime, network: Network) -> str | None:
    """Return why `runtime` refuses `layer`, in one sentence, or None if it takes it."""
    for rule in RULES:
        if runtime in rule.runtimes and rule.refuses(layer, network):
            return rule.sentence
    return None
