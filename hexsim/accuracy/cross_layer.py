"""Cross-layer equalization as a remedy: it changes chains of layers and every range inside them.

So it cannot be tried on a single layer, and the network is quantised again in the same modes.
"""

from collections import Counter
from collections.abc import Collection, Iterable, Mapping
from dataclasses import replace
from typing import Literal, cast

from hexsim.accuracy.causes import OUTLIER, Errors, suspects
from hexsim.errors import spelled
from hexsim.graph.ir import FloatArray
from hexsim.quantization.encodings import AxisEncoding, Encoding
from hexsim.quantization.equalization import equalize
from hexsim.quantization.equalization.chains import find_chains
from hexsim.quantization.model import Model
from hexsim.quantization.options import QuantizationOptions
from hexsim.quantization.quantizer import quantize


def remedy() -> str:
    """Return what the user would do."""
    return f"equalise weights across layers ({spelled('optimizations', 'cle')})"


def could_equalize(model: Model, layers: Collection[str], errors: Errors) -> bool:
    """Return True if one of `layers` has an outlier channel and is in a chain that can share it.

    Models with float layers are excluded: their modes do not tell which layers to quantise again.
    """
    if model.equalized or model.floats:
        return False
    network = model.network
    chained = {
        name for chain in find_chains(network) if len(chain.layers) > 1 for name in chain.layers
    }
    return any(
        cause.kind == OUTLIER
        for layer in network.layers
        if layer.name in chained.intersection(layers)
        for cause in suspects(layer, model, errors)
    )


def equalized(model: Model, inputs: Iterable[Mapping[str, FloatArray]]) -> Model:
    """Return the model equalised and quantised again, calibrated on `inputs`."""
    quantized = quantize(equalize(model.network).network, inputs, _options(model))
    return replace(quantized, equalized=True)


def _options(model: Model) -> QuantizationOptions:
    """Return the quantiser's options as far as `model` shows them (searched ranges do not show).

    Where overrides gave single tensors another width, the width of most tensors counts.
    """
    weights: list[Encoding | AxisEncoding] = []
    biases: list[Encoding | AxisEncoding] = []
    for layer in model.network.layers:
        for name, encodings in zip(layer.parameters, (weights, biases), strict=False):
            if name in model.parameters:
                encodings.append(model.parameters[name])
    defaults = QuantizationOptions()
    return QuantizationOptions(
        axis_weights=any(isinstance(weight, AxisEncoding) for weight in weights),
        symmetric_weights=any(
            not isinstance(weight, AxisEncoding) and weight.symmetric for weight in weights
        ),
        activation_bits=cast(
            Literal[8, 16], _commonest(model.activations.values(), defaults.activation_bits)
        ),
        weight_bits=cast(Literal[4, 8, 16], _commonest(weights, defaults.weight_bits)),
        bias_bits=8 if biases else 32,
    )


def _commonest(encodings: Iterable[Encoding | AxisEncoding], default: int) -> int:
    widths = Counter(encoding.bitwidth for encoding in encodings)
    return widths.most_common(1)[0][0] if widths else default
