"""The quantiser: a float network and calibration inputs in, a quantised network out.

What is encoded how
1. Activations are 8 or 16 bit asymmetric, by the activation rule of the options, from the values
   they took on the calibration inputs. Constants used as operands count as activations.
2. A layer that only moves codes (max pooling, reshape, permute, channel shuffle) keeps its
   input's encoding, so that the integer kernel does not requantise.
3. Weights of convolutions and fully connected layers follow the weight rule of the options.
4. A bias is 8 bit asymmetric over its own range, whatever the modes (cutting off the end of a bias
   shifts a whole channel), or 32 bit at the accumulator's scale.
5. Where the width of activations changes, a Convert layer is inserted.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping

from hexsim.graph.ir import FloatArray, Layer, Network
from hexsim.layers import ChannelShuffle, Convolution, FullyConnected, Permute, Pooling, Reshape
from hexsim.quantization.calibration import observe
from hexsim.quantization.conversions import with_conversions
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
    quantized = QuantizedNetwork(
        network,
        _activation_encodings(network, seen, rule),
        _parameter_encodings(network, options),
        packs_weights=options.pack_4_bit_weights,
    )
    return with_conversions(quantized)


def moves_codes(layer: Layer) -> bool:
    """True if the layer's output holds nothing but codes of its input."""
    if isinstance(layer, Pooling):
        return layer.kind == "max"
    return isinstance(layer, Reshape | Permute | ChannelShuffle)


def _activation_encodings(
    network: Network, observations: Mapping[str, Observation], rule: EncodingRule
) -> dict[str, Encoding]:
    encodings = {
        name: rule.encode(observations[name]) for name in network.inputs if name in observations
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
