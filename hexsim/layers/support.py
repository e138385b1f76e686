"""Which runtime takes which layer, and which the HTA, as rules with one sentence each.

A rule names the runtimes it speaks for and says when a layer is refused; its sentence is both
the message a user reads and the documentation. Sources are the SNPE support table and its list
of limitations, and for the HTA the operators of the QNN HTA back end, whose own list SNPE never
published. Layers that no rule refuses are taken. What depends on encodings or on the release is
said elsewhere (`hexsim.planning.sections.limits`).
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from hexsim.graph.ir import Layer, Network
from hexsim.layers.colour_conversion import ColourConversion
from hexsim.layers.concat import Concat
from hexsim.layers.convolution import Convolution
from hexsim.layers.deconvolution import Deconvolution
from hexsim.layers.elementwise import Elementwise
from hexsim.layers.fully_connected import FullyConnected
from hexsim.layers.neuron import Neuron
from hexsim.layers.opaque import Opaque
from hexsim.layers.pad import Pad
from hexsim.layers.pooling import Pooling
from hexsim.layers.prelu import Prelu
from hexsim.layers.reshape import Reshape
from hexsim.layers.resize import Resize
from hexsim.layers.softmax import Softmax
from hexsim.runtimes import Target

_ACCELERATORS: frozenset[Target] = frozenset({"gpu", "gpu_fp16", "dsp", "aip", "fxp_cpu", "hta"})
_INTEGER: frozenset[Target] = frozenset({"dsp", "aip", "fxp_cpu", "hta"})
_HTA: frozenset[Target] = frozenset({"hta"})

_HTA_LAYERS = (
    *(Concat, Convolution, Deconvolution, Elementwise, FullyConnected, Neuron, Pooling, Prelu),
    *(Reshape, Resize, Softmax),
)
"""QNN HTA operator history. FullyConnected: SNPE compiles Inception v3 to one section."""
_HTA_AXES = 4
_HTA_CHANNEL_STEP = 32
_HTA_UNEVEN_CHANNELS = 4096
_GPU: frozenset[Target] = frozenset({"gpu", "gpu_fp16"})


@dataclass(frozen=True)
class Rule:
    """One reason for which some runtimes refuse a layer."""

    runtimes: frozenset[Target]
    refuses: Callable[[Layer, Network], bool]
    sentence: str


def _is_opaque(layer: Layer, network: Network) -> bool:
    return isinstance(layer, Opaque)


def _is_pad(layer: Layer, network: Network) -> bool:
    return isinstance(layer, Pad)


def _strides_over_its_window(layer: Layer, network: Network) -> bool:
    return isinstance(layer, Deconvolution) and any(
        step > size for step, size in zip(layer.window.strides, layer.window.kernel, strict=True)
    )


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


def _without_elements(layer: Layer, network: Network) -> bool:
    return any(
        0 in shape for shape in (*network.input_shapes(layer), *network.layer_outputs(layer))
    )


def _constant_only(layer: Layer, network: Network) -> bool:
    return isinstance(layer, Elementwise) and not any(n in network.tensors for n in layer.inputs)


def _not_in_the_hta_set(layer: Layer, network: Network) -> bool:
    return not isinstance(layer, _HTA_LAYERS)


def _not_a_function_of_the_hta(layer: Layer, network: Network) -> bool:
    if isinstance(layer, Neuron):
        return layer.function in ("elu", "hard_sigmoid")
    return isinstance(layer, Elementwise) and layer.kind not in ("sum", "sub", "product")


def _more_than_four_axes(layer: Layer, network: Network) -> bool:
    shapes = (*network.input_shapes(layer), *network.layer_outputs(layer))
    return any(len(shape) > _HTA_AXES for shape in shapes)


def _batch(layer: Layer, network: Network) -> bool:
    return any(len(s) > 1 and s[0] > 1 for s in network.layer_outputs(layer))


def _concat_not_of_channels(layer: Layer, network: Network) -> bool:
    return isinstance(layer, Concat) and layer.axis != len(network.shape(layer.inputs[0])) - 1


def _concat_uneven_and_long(layer: Layer, network: Network) -> bool:
    if not isinstance(layer, Concat):
        return False
    channels = [network.shape(name)[-1] for name in layer.inputs]
    return any(n % _HTA_CHANNEL_STEP for n in channels) and sum(channels) > (_HTA_UNEVEN_CHANNELS)


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
    Rule(_GPU, _strides_over_its_window, "its stride is larger than its filter (SNPE limitations)"),
    Rule(_INTEGER, _is_elu, "Elu runs on CPU and GPU only (SNPE layer support table)"),
    Rule(_INTEGER, _softmax_not_last, "Softmax is supported along the last axis only"),
    Rule(_ACCELERATORS, _more_than_five_axes, "tensors have at most five axes"),
    Rule(_ACCELERATORS, _without_elements, "one of its tensors has no elements"),
    Rule(_ACCELERATORS, _constant_only, "an elementwise layer needs an operand that varies"),
    Rule(_HTA, _not_in_the_hta_set, "the QNN HTA back end has no layer of this type"),
    Rule(_HTA, _not_a_function_of_the_hta, "the QNN HTA back end has no such function"),
    Rule(_HTA, _more_than_four_axes, "tensors on the HTA have at most four axes"),
    Rule(_HTA, _batch, "the HTA takes batches of one"),
    Rule(_HTA, _concat_not_of_channels, "the HTA joins tensors along channels only"),
    Rule(
        _HTA,
        _concat_uneven_and_long,
        "the HTA joins at most 4096 channels unless all counts are multiples of 32",
    ),
    Rule(_INTEGER, _reads_opaque_input, "it reads an input of type opaque, which stays float"),
    Rule(_INTEGER, _nv21_of_no_bytes, "NV21 is decoded from bytes, an input of type image"),
)


def refusal(layer: Layer, target: Target, network: Network) -> str | None:
    """Return why `target` refuses `layer`, in one sentence, or None if it takes it."""
    for rule in RULES:
        if target in rule.runtimes and rule.refuses(layer, network):
            return rule.sentence
    return None
