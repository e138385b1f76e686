"""The quantiser: a float network and calibration inputs in, a quantised network out.

Rules
1. Activations are 8 bit asymmetric over the range they took on the calibration inputs.
2. A layer that only moves codes (max pooling, reshape, permute, channel shuffle) keeps its
   input's encoding, so that the integer kernel does not requantise.
3. Weights are 8 bit asymmetric per tensor over their own range.
4. A bias is 8 bit asymmetric over its own range, or 32 bit at the accumulator's scale.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping

import numpy as np

from hexsim.graph.ir import FloatArray, Layer, Network
from hexsim.layers import ChannelShuffle, Convolution, FullyConnected, Permute, Pooling, Reshape
from hexsim.quantization.calibration import Range, observe_ranges
from hexsim.quantization.encodings import AxisEncoding, Encoding
from hexsim.quantization.options import QuantizationOptions
from hexsim.quantization.quantized import QuantizedNetwork


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
    ranges = observe_ranges(network, inputs, progress)
    return QuantizedNetwork(
        network,
        _activation_encodings(network, ranges, options),
        _parameter_encodings(network, options),
    )


def moves_codes(layer: Layer) -> bool:
    """True if the layer's output holds nothing but codes of its input."""
    if isinstance(layer, Pooling):
        return layer.kind == "max"
    return isinstance(layer, Reshape | Permute | ChannelShuffle)


def _activation_encodings(
    network: Network, ranges: Mapping[str, Range], options: QuantizationOptions
) -> dict[str, Encoding]:
    encodings = {
        name: Encoding.from_range(seen.low, seen.high, minimum_range=options.minimum_range)
        for name, seen in ranges.items()
    }
    for layer in network.layers:
        if moves_codes(layer) and layer.inputs[0] in encodings:
            encodings[layer.output] = encodings[layer.inputs[0]]
        for name in layer.inputs:
            if name in network.constants and network.constants[name].dtype == "float32":
                encodings[name] = _range_encoding(network, name, options)
    return encodings


def _parameter_encodings(
    network: Network, options: QuantizationOptions
) -> dict[str, Encoding | AxisEncoding]:
    encodings: dict[str, Encoding | AxisEncoding] = {}
    for layer in network.layers:
        if not isinstance(layer, Convolution | FullyConnected):
            continue
        encodings[layer.weight] = _range_encoding(network, layer.weight, options)
        if layer.bias is not None and options.bias_bits == 8:
            encodings[layer.bias] = _range_encoding(network, layer.bias, options)
    return encodings


def _range_encoding(network: Network, name: str, options: QuantizationOptions) -> Encoding:
    value = network.constants[name].finite()
    return Encoding.from_range(
        float(np.min(value)), float(np.max(value)), minimum_range=options.minimum_range
    )
