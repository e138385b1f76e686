"""The quantiser: a float network and calibration inputs in, a quantised network out.

What is encoded how
1. Activations are 8 bit asymmetric, by the activation rule of the options, from the values they
   took on the calibration inputs. Constants used as operands count as activations. An input of
   type image has the range 0 to 255 whatever was seen, one of type opaque no encoding.
2. A layer that only moves codes (max pooling, reshape, permute, channel shuffle, colour
   conversion) keeps its input's encoding, so that the integer kernel does not requantise.
3. Weights of convolutions and fully connected layers follow the weight rule of the options.
4. A bias is 8 bit asymmetric over its own range, whatever the modes (cutting off the end of a bias
   shifts a whole channel), or 32 bit at the accumulator's scale.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping

from hexsim.graph.input_format import IMAGE_HIGH, InputFormat
from hexsim.graph.ir import FloatArray, Layer, Network
from hexsim.layers import (
    ChannelShuffle,
    ColourConversion,
    Convolution,
    FullyConnected,
    Permute,
    Pooling,
    Reshape,
)
from hexsim.quantization.calibration import observe
from hexsim.quantization.encodings import AxisEncoding, Encoding
from hexsim.quantization.observation import Observation
from hexsim.quantization.options import QuantizationOptions
from hexsim.quantization.quantized import QuantizedNetwork
from hexsim.quantization.rules.choice import activation_rule, encode, weight_encoding
from hexsim.quantization.rules.min_max import MinMax
from hexsim.quantization.rules.rule import EncodingRule


def quantize(
    network: Network,
    inputs: Iterable[Mapping[str, FloatArray]],
    options: QuantizationOptions | None = None,
    progress: Callable[[int], None] = lambda done: None,
) -> QuantizedNetwork:
    """Quantise `network`, calibrating activations on `inputs` (arrays in stored order).

    Raises HexsimError for NaN or infinite weights and for unusable inputs.
    """
    options = options or QuantizationOptions()
    rule = activation_rule(options)
    seen = observe(network, inputs, progress, with_histograms=rule.needs_histogram)
    return QuantizedNetwork(
        network,
        _activation_encodings(network, seen, rule),
        _parameter_encodings(network, options),
        packs_weights=options.pack_4_bit_weights,
    )


def moves_codes(layer: Layer) -> bool:
    """True if the layer's output holds codes of its input, or (NV21) bytes as its input does."""
    if isinstance(layer, Pooling):
        return layer.kind == "max"
    return isinstance(layer, Reshape | Permute | ChannelShuffle | ColourConversion)


def _activation_encodings(
    network: Network, observations: Mapping[str, Observation], rule: EncodingRule
) -> dict[str, Encoding]:
    encodings = {
        name: _input_encoding(network.input_format(name), observations[name], rule)
        for name in network.inputs
        if name in observations and network.input_format(name).type != "opaque"
    }
    for layer in network.layers:
        for name in layer.inputs:
            if name in network.constants and network.constants[name].dtype == "float32":
                encodings[name] = encode(rule, network.constants[name].finite())
        for name in layer.outputs:
            if moves_codes(layer) and layer.inputs[0] in encodings:
                encodings[name] = encodings[layer.inputs[0]]
            elif name in observations:
                encodings[name] = rule.encode(observations[name])
    return encodings


def _input_encoding(form: InputFormat, seen: Observation, rule: EncodingRule) -> Encoding:
    return Encoding.from_range(0, IMAGE_HIGH) if form.type == "image" else rule.encode(seen)


def _parameter_encodings(
    network: Network, options: QuantizationOptions
) -> dict[str, Encoding | AxisEncoding]:
    bias_rule = MinMax(minimum_range=options.minimum_range)
    encodings: dict[str, Encoding | AxisEncoding] = {}
    for layer in network.layers:
        if not isinstance(layer, Convolution | FullyConnected):
            continue
        encodings[layer.weight] = weight_encoding(network.constants[layer.weight].finite(), options)
        if layer.bias is not None and options.bias_bits == 8:
            encodings[layer.bias] = encode(bias_rule, network.constants[layer.bias].finite())
    return encodings
