"""The quantiser: a float network and calibration inputs in, a quantised network out.

What is encoded how
1. Activations are 8 or 16 bit asymmetric, by the activation rule of the options, from the values
   they took on the calibration inputs. Constants used as operands count as activations, unless
   only opaque layers read them (hexsim.quantization.operands). An input of type image has the
   range 0 to 255 whatever was seen, one of type opaque no encoding, nor has a tensor whose size
   depends on values.
2. A layer that only moves codes (max pooling, reshape, permute, channel shuffle, resize to the
   nearest pixel, colour conversion) keeps its input's encoding, so that the integer kernel does
   not requantise. One that counts has steps of one from zero, whatever was seen.
3. Weights of convolutions, deconvolutions, fully connected and recurrent layers follow the weight
   rule of the options; biases of recurrent layers stay as they are.
4. A bias is 8 bit asymmetric over its own range, whatever the modes (cutting off the end of a bias
   shifts a whole channel), or 32 bit at the accumulator's scale.
5. What an override gives is taken instead (hexsim.quantization.overrides.settle); one that gives
   a width alone changes that, and the range is found as above.
6. What overrides ask to stay float has no encoding (hexsim.quantization.overrides.floats).
7. Where the width of activations or their type changes, a Convert layer is inserted.
8. What the inputs prove to be lost is kept as evidence (hexsim.quantization.evidence_search).
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping

import numpy as np

from hexsim.errors import HexsimError
from hexsim.graph.input_format import IMAGE_HIGH
from hexsim.graph.ir import FloatArray, Network
from hexsim.layers import Recurrent, Weighted
from hexsim.quantization.calibration import observe
from hexsim.quantization.conversions import with_conversions
from hexsim.quantization.decision import EncodingDecision, encodings_of, origins_of
from hexsim.quantization.encodings import AxisEncoding, Encoding
from hexsim.quantization.evidence_search import FirstKept, evidence
from hexsim.quantization.masks.cap import Caps
from hexsim.quantization.masks.found import Masks
from hexsim.quantization.model import Model
from hexsim.quantization.observation import Observation
from hexsim.quantization.operands import coded_operands
from hexsim.quantization.options import QuantizationOptions
from hexsim.quantization.overrides import NO_OVERRIDES, Overrides
from hexsim.quantization.overrides.floats import FloatTensor
from hexsim.quantization.overrides.settle import NOTHING, GivenEncoding, settle
from hexsim.quantization.overrides.unranged import Unranged
from hexsim.quantization.rules.choice import (
    activation_rule,
    activation_words,
    encode,
    weight_encoding,
    weight_words,
)
from hexsim.quantization.rules.min_max import MinMax


def quantize(
    network: Network,
    inputs: Iterable[Mapping[str, FloatArray]],
    options: QuantizationOptions | None = None,
    progress: Callable[[int], None] = lambda done: None,
    overrides: Overrides = NO_OVERRIDES,
    outdated: Mapping[str, str] = NOTHING,
) -> Model:
    """Quantise `network`, calibrating activations on `inputs` (arrays in stored order).

    Masks are capped where softmax gives zero (`hexsim.quantization.masks.cap`).
    `overrides` take the place of what calibration and weight rules would choose, but for tensors
    and constants that are `outdated` (see `settle`). Raises
    HexsimError for NaN or infinite weights, for unusable inputs, and for overrides that
    contradict the options, cannot be stored, or belong to another network.
    """
    options = options or QuantizationOptions()
    settled = settle(overrides, network, options, outdated)
    caps, kept = Caps(Masks.of(network)), FirstKept(inputs)
    seen = observe(
        caps.masks.with_finite(),
        kept,
        progress,
        with_histograms=activation_rule(options).needs_histogram,
        change=caps.capped,
    )
    network = caps.network(network)
    floats = settled.floats
    _require_halves(network, floats)
    ranges = _activations(network, seen, options, settled.given)
    activations = {name: range_ for name, range_ in ranges.items() if name not in floats}
    parameters = _parameters(network, options, settled.given, floats)
    quantized = Model(
        network,
        encodings_of(activations),
        encodings_of(parameters),
        packs_weights=options.pack_4_bit_weights,
        float_weights=options.float_weights,
        origins={
            **origins_of({**activations, **parameters}),
            **{name: one.origin for name, one in floats.items()},
        },
        overrides=settled.outcomes,
        floats={name: one.bits for name, one in floats.items()},
        quantized=True,
        notes=caps.notes(),
        evidence=evidence(
            network, encodings_of(activations), encodings_of(parameters), seen, kept.first
        ),
    )
    return with_conversions(quantized, encodings_of(ranges))


def _activations(
    network: Network,
    observations: Mapping[str, Observation],
    options: QuantizationOptions,
    given: Mapping[str, GivenEncoding],
) -> dict[str, EncodingDecision[Encoding]]:
    """Decide about inputs, operands and what layers write, in this order.

    That includes tensors that stay float, for which it is the code that others read them in.
    """
    decided: dict[str, EncodingDecision[Encoding]] = {}

    def calibrated(name: str) -> None:
        if name in observations:
            decided[name] = _seen(name, observations[name], "calibration", options, given)

    for name in network.inputs:
        kind = network.input_format(name).type
        if kind == "image":
            asked = _width(name, given)
            byte = Encoding.from_range(0, IMAGE_HIGH, asked.bits if asked else 8)
            decided[name] = _given(name, given) or EncodingDecision(byte, "input of type image")
        elif kind != "opaque":
            calibrated(name)
    operands = frozenset(coded_operands(network))
    for layer in network.layers:
        for name in layer.inputs:
            if name in operands:
                histogram = activation_rule(options).needs_histogram
                seen = Observation.of(network.constants[name].finite(), with_histogram=histogram)
                decided[name] = _seen(name, seen, "its values", options, given)
        for name in layer.outputs:
            if layer.moves_codes and layer.inputs[0] in decided:
                decided[name] = EncodingDecision(
                    decided[layer.inputs[0]].encoding, f"that of '{layer.inputs[0]}'"
                )
            elif layer.counts and name in observations:
                asked = _width(name, given)
                bits = asked.bits if asked else options.activation_bits
                whole = Encoding.from_range(0, (1 << bits) - 1, bits)
                decided[name] = _given(name, given) or EncodingDecision(whole, "whole numbers")
            else:
                calibrated(name)
    return decided


def _parameters(
    network: Network,
    options: QuantizationOptions,
    given: Mapping[str, GivenEncoding],
    floats: Mapping[str, FloatTensor],
) -> dict[str, EncodingDecision[Encoding | AxisEncoding]]:
    """Decide about the weights and biases of layers that multiply."""
    bias_rule = MinMax(minimum_range=options.minimum_range)
    decided: dict[str, EncodingDecision[Encoding | AxisEncoding]] = {}
    for layer in network.layers:
        if isinstance(layer, Recurrent):
            for name in (layer.weight, layer.recurrence):
                decided[name] = _of_weight(network, name, options, given)
        if not isinstance(layer, Weighted) or layer.weight in floats:
            continue
        decided[layer.weight] = _of_weight(network, layer.weight, options, given)
        if layer.bias is None:
            continue
        asked, one = _width(layer.bias, given), given.get(layer.bias)
        if one is not None and not isinstance(one.encoding, Unranged):
            decided[layer.bias] = EncodingDecision(one.encoding, one.source)
        elif asked or options.bias_bits == 8:
            encoding = encode(bias_rule, network.constants[layer.bias].finite())
            stored = asked.stored(encoding) if asked else encoding
            decided[layer.bias] = EncodingDecision(stored, f"its values (min to max{_by(asked)})")
        else:
            decided[layer.bias] = EncodingDecision(None, "accumulator's scale")
    return decided


def _of_weight(
    network: Network,
    name: str,
    options: QuantizationOptions,
    given: Mapping[str, GivenEncoding],
) -> EncodingDecision[Encoding | AxisEncoding]:
    """What an override says about a weight, else the weight rule."""
    asked, one = _width(name, given), given.get(name)
    if one is not None and not isinstance(one.encoding, Unranged):
        return EncodingDecision(one.encoding, one.source)
    if asked is not None:
        options = asked.for_weight(options)
    encoding = weight_encoding(network.constants[name].finite(), options)
    return EncodingDecision(encoding, f"weight rule ({weight_words(options)}{_by(asked)})")


def _require_halves(network: Network, floats: Mapping[str, FloatTensor]) -> None:
    """Raise HexsimError for a constant that is to have 16 bits and lies beyond them."""
    highest = float(np.finfo(np.float16).max)
    for name, one in floats.items():
        if one.bits == 16 and name in network.constants:
            largest = float(np.abs(network.constants[name].finite()).max(initial=0.0))
            if largest > highest:
                raise HexsimError(
                    f"constant '{name}' reaches {largest:g} and a float16 {highest:g}; override it "
                    "as a float of 32 bits"
                )


def _seen(
    name: str,
    seen: Observation,
    how: str,
    options: QuantizationOptions,
    given: Mapping[str, GivenEncoding],
) -> EncodingDecision[Encoding]:
    """What an override says about an activation, else the activation rule, in words `how`."""
    if (decision := _given(name, given)) is not None:
        return decision
    asked, words = _width(name, given), activation_words(options)
    if asked is None:
        return EncodingDecision(activation_rule(options).encode(seen), f"{how} ({words})")
    encoding = activation_rule(asked.for_activation(options)).encode(seen)
    return EncodingDecision(asked.stored(encoding), f"{how} ({words}{_by(asked)})")


def _width(name: str, given: Mapping[str, GivenEncoding]) -> Unranged | None:
    """What an override asks for that gives no range."""
    encoding = given[name].encoding if name in given else None
    return encoding if isinstance(encoding, Unranged) else None


def _by(asked: Unranged | None) -> str:
    return f"; {asked.bits} bits by override" if asked else ""


def _given(name: str, given: Mapping[str, GivenEncoding]) -> EncodingDecision[Encoding] | None:
    """What an override says about an activation, if it gives a range."""
    if name not in given or _width(name, given):
        return None
    encoding = given[name].encoding
    assert isinstance(encoding, Encoding), f"activation '{name}' cannot have {encoding}"
    return EncodingDecision(encoding, given[name].source)
