"""The quantiser makes a quantised network from a float network and calibration inputs.

These rules decide the encoding of each tensor:
1. Activations are 8 or 16 bit asymmetric. Their encodings follow from the values on the
   calibration inputs by the activation rule of the options. Constants used as operands count as
   activations, unless only opaque layers read them (hexsim.quantization.operands). An input of
   type image always has the range 0 to 255. An input of type opaque has no encoding, and neither
   has a tensor whose size depends on values.
2. A layer that only moves quantised values, "codes" here (max pooling, reshape, permute, channel
   shuffle, resize to the nearest pixel, colour conversion), keeps the encoding of its input, so
   that the integer kernel does not requantise. The output of a layer that counts always has steps
   of one from zero.
3. Weights of convolutions, deconvolutions, fully connected and recurrent layers follow the weight
   rule of the options. Biases of recurrent layers are not quantised.
4. A bias is 8 bit asymmetric over its own range, whatever the modes (cutting off the end of a bias
   shifts all values of a channel), or 32 bit at the accumulator's scale. Both is so as well where
   an override gives the weight and not the bias: the guide's quantiser then has its default, 8 bit
   (SNPE guides 1.33 to 2025, bias_bitwidth; overrides for some tensors only; documented). A note
   says so, as other tools make such a bias 32 bit (onnxruntime, AIMET).
5. An override replaces these choices (hexsim.quantization.overrides.settle). An override that
   gives only a width changes only the width.
6. Tensors that stay float by an override have no encoding (hexsim.quantization.overrides.floats).
7. A Convert layer is inserted where the width or type of activations changes.
8. The losses that the inputs prove are recorded as evidence (hexsim.quantization.calibration).
"""

from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import Generic, TypeVar

import numpy as np

from hexsim.errors import HexsimError, spelled
from hexsim.graph.ir import FloatArray, Layer, Network
from hexsim.graph.network_ends import IMAGE_HIGH
from hexsim.layers import FullyConnected, Opaque, Recurrent, Weighted
from hexsim.quantization.calibration import Calibrated, FirstKept, evidence, observe, unobserved
from hexsim.quantization.encodings import AxisEncoding, Encoding
from hexsim.quantization.evidence import NO_EVIDENCE, extremes
from hexsim.quantization.float_layers import with_conversions
from hexsim.quantization.masks import Caps, Masks
from hexsim.quantization.model import Model
from hexsim.quantization.observation import Observation
from hexsim.quantization.operands import coded_operands
from hexsim.quantization.options import QuantizationOptions
from hexsim.quantization.overrides import NO_OVERRIDES, Overrides
from hexsim.quantization.overrides.floats import FloatTensor, Unranged
from hexsim.quantization.overrides.settle import NOTHING, GivenEncoding, settle
from hexsim.quantization.rules.choice import (
    activation_rule,
    activation_words,
    encode,
    weight_encoding,
    weight_words,
)
from hexsim.quantization.rules.rule import MinMax
from hexsim.records import dataclass, replace

_CALIBRATION = "calibration"
"""The source of values that come from inputs."""
_Kind = TypeVar("_Kind", bound=Encoding | AxisEncoding, covariant=True)


@dataclass(frozen=True)
class _Decision(Generic[_Kind]):
    """An encoding and its origin in a few words; None is a bias at the accumulator's scale.

    `calibrated` says that the values on the inputs decided it.
    """

    encoding: _Kind | None
    origin: str
    calibrated: bool = False


def quantize(
    network: Network,
    inputs: Iterable[Mapping[str, FloatArray]] | None,
    options: QuantizationOptions | None = None,
    progress: Callable[[int], None] = lambda done: None,
    overrides: Overrides = NO_OVERRIDES,
    outdated: Mapping[str, str] = NOTHING,
    calibrated: Calibrated | None = None,
) -> Model:
    """Quantise `network`, calibrating activations on `inputs` (arrays in stored order).

    With `inputs` None no layer is computed, and there is no evidence of lost values. If `overrides`
    leave ranges to be calibrated, these are arbitrary, and `Model.uncalibrated` names them: times
    do not depend on ranges. Masks are capped where softmax gives zero
    (`hexsim.quantization.masks`). `overrides` replace the choices of calibration and of the
    weight rules, except for tensors and constants that are `outdated` (see `settle`). What was
    `calibrated` on the same inputs is not computed again. Raises HexsimError for NaN or infinite
    weights, for unusable inputs, and for overrides that contradict the options, cannot be stored,
    or belong to another network.
    """
    options = options or QuantizationOptions()
    settled = settle(overrides, network, options, outdated)
    ranged = frozenset(
        name for name in settled.encodings if not _given_width(name, settled.encodings)
    )
    floats, histograms = settled.floats, activation_rule(options).needs_histogram
    key, known = (network, ranged, histograms), calibrated or Calibrated()
    caps, seen, first = known.part(key, lambda: _observed(*key, inputs, progress))
    network = caps.masks.with_finite() if inputs is None else caps.network(network)
    _require_float16_range(network, floats)
    ranges = _activations(network, seen or unobserved(network), options, settled.encodings)
    activations = {name: range_ for name, range_ in ranges.items() if name not in floats}
    parameters = _parameters(network, options, settled.encodings, floats)
    uncalibrated: tuple[str, ...] = ()
    if inputs is None:
        uncalibrated = (*_uncalibrated(network, ranges, floats), *caps.uncapped())
        if not uncalibrated:  # those that only layers in floats use have no encoding
            activations = {name: d for name, d in activations.items() if not d.calibrated}
    of_activations, of_parameters = _encodings_of(activations), _encodings_of(parameters)
    losses = NO_EVIDENCE
    if not uncalibrated:
        losses = evidence(network, of_activations, of_parameters, seen, first)
    quantized = Model(
        network,
        of_activations,
        of_parameters,
        packs_weights=options.pack_4_bit_weights,
        float_weights=options.float_weights,
        origins={n: d.origin for n, d in {**activations, **parameters}.items()}
        | {name: tensor.origin for name, tensor in floats.items()},
        overrides=settled.outcomes,
        floats={name: tensor.bits for name, tensor in floats.items()},
        quantized=True,
        notes=(*caps.notes(), *_notes(network, of_parameters, settled.encodings)),
        evidence=losses,
        uncalibrated=uncalibrated,
    )
    return with_conversions(quantized, _encodings_of(ranges))


def _observed(
    network: Network,
    ranged: frozenset[str],
    histograms: bool,
    inputs: Iterable[Mapping[str, FloatArray]] | None,
    progress: Callable[[int], None],
) -> tuple[Caps, Mapping[str, Observation], Mapping[str, FloatArray]]:
    """Return the caps of masks, the observations and the first of `inputs`, empty without any."""
    caps, feeds = Caps(Masks.of(network, ranged), ranged), FirstKept(inputs or ())
    if inputs is None:
        return caps, {}, {}
    finite = caps.masks.with_finite()
    change = caps.capped if caps.masks.sums else None
    seen = observe(finite, feeds, progress, with_histograms=histograms, change=change)
    return caps, seen, feeds.first


def _uncalibrated(
    network: Network, ranges: Mapping[str, _Decision[Encoding]], floats: Mapping[str, FloatTensor]
) -> Iterator[str]:
    """Yield the tensors that need an encoding, and would get that of their values on inputs.

    Layers that compute in floats need none for what they read and write.
    """

    def in_floats(layer: Layer) -> bool:
        return isinstance(layer, Opaque) or layer.outputs[0] in floats

    for name in (name for name, decision in ranges.items() if decision.calibrated):
        writers = [network.producers[name]] if name in network.producers else []
        layers = [*writers, *network.consumers.get(name, ())]
        if not all(map(in_floats, layers)):
            yield name


def _activations(
    network: Network,
    observations: Mapping[str, Observation],
    options: QuantizationOptions,
    encodings: Mapping[str, GivenEncoding],
) -> dict[str, _Decision[Encoding]]:
    """Choose the encodings of inputs, operands and outputs of layers, in this order.

    A tensor that stays float gets one too: that of the Convert layer from which fixed-point layers
    read it.
    """
    decided: dict[str, _Decision[Encoding]] = {}

    def calibrated(name: str) -> None:
        if name in observations:
            decided[name] = _from_observation(
                name, observations[name], _CALIBRATION, options, encodings
            )

    for name in network.inputs:
        kind = network.input_format(name).type
        if kind == "image":
            width = _given_width(name, encodings)
            byte = Encoding.from_range(0, IMAGE_HIGH, width.bits if width else 8)
            decided[name] = _given_range(name, encodings) or _Decision(byte, "input of type image")
        elif kind != "opaque":
            calibrated(name)
    operands = frozenset(coded_operands(network))
    for layer in network.layers:
        for name in layer.inputs:
            if name in operands:
                histogram = activation_rule(options).needs_histogram
                observation = Observation.of(
                    network.constants[name].finite(), with_histogram=histogram
                )
                decided[name] = _from_observation(
                    name, observation, "its values", options, encodings
                )
        for name in layer.outputs:
            if layer.moves_codes and layer.inputs[0] in decided:
                decided[name] = _Decision(
                    decided[layer.inputs[0]].encoding, f"that of '{layer.inputs[0]}'"
                )
            elif layer.counts and name in observations:
                width = _given_width(name, encodings)
                bits = width.bits if width else options.activation_bits
                counting = Encoding.from_range(0, (1 << bits) - 1, bits)
                decided[name] = _given_range(name, encodings) or _Decision(
                    counting, "whole numbers"
                )
            else:
                calibrated(name)
    return decided


def _parameters(
    network: Network,
    options: QuantizationOptions,
    encodings: Mapping[str, GivenEncoding],
    floats: Mapping[str, FloatTensor],
) -> dict[str, _Decision[Encoding | AxisEncoding]]:
    bias_rule = MinMax(minimum_range=options.minimum_range)
    decided: dict[str, _Decision[Encoding | AxisEncoding]] = {}
    for layer in network.layers:
        if isinstance(layer, Recurrent):
            for name in (layer.weight, layer.recurrence):
                decided[name] = _weight_decision(network, name, options, encodings)
        if not isinstance(layer, Weighted) or layer.weight in floats:
            continue
        per_channel = options.row_weights and isinstance(layer, FullyConnected)
        own = replace(options, axis_weights=True) if per_channel else options
        decided[layer.weight] = _weight_decision(network, layer.weight, own, encodings)
        if layer.bias is None:
            continue
        width, override = _given_width(layer.bias, encodings), encodings.get(layer.bias)
        if override is not None and not isinstance(override.encoding, Unranged):
            decided[layer.bias] = _Decision(override.encoding, override.source)
        elif width or options.bias_bits == 8:
            encoding = encode(bias_rule, network.constants[layer.bias].finite())
            stored = width.stored(encoding) if width else encoding
            decided[layer.bias] = _Decision(
                stored, f"its values (min to max{_width_remark(width)})"
            )
        else:
            decided[layer.bias] = _Decision(None, "accumulator's scale")
    return decided


def _notes(
    network: Network,
    parameters: Mapping[str, Encoding | AxisEncoding],
    encodings: Mapping[str, GivenEncoding],
) -> Iterator[str]:
    yield from _notes_on_biases(network, parameters, encodings)
    yield from _notes_on_symmetry(network, parameters, encodings)


def _notes_on_biases(
    network: Network,
    parameters: Mapping[str, Encoding | AxisEncoding],
    encodings: Mapping[str, GivenEncoding],
) -> Iterator[str]:
    """Yield a sentence if biases beside given codes of weights have 8 bits by default."""
    names = [
        layer.bias
        for layer in network.layers
        if isinstance(layer, Weighted)
        and layer.weight in encodings
        and layer.bias in parameters
        and layer.bias not in encodings
    ]
    if names:
        others = f" and {len(names) - 1} others" if len(names) > 1 else ""
        yield (
            f"bias '{names[0]}'{others} have no encoding beside those of the weights, and get 8 "
            f"bits, the default of SNPE's quantiser; {spelled('bias_bits', 32)} rounds no bias"
        )


_ONE_SIDED = 1.25
"""Steps of asymmetric weights in a step of symmetric ones, beyond which a note says so (ours)."""


def _notes_on_symmetry(
    network: Network,
    parameters: Mapping[str, Encoding | AxisEncoding],
    encodings: Mapping[str, GivenEncoding],
) -> Iterator[str]:
    """Yield a sentence if symmetric weights, by the options, leave many of their codes unused."""
    ratios = {}
    for layer in network.layers:
        encoding = parameters.get(layer.weight) if isinstance(layer, Weighted) else None
        if not isinstance(layer, Weighted) or layer.weight in encodings:
            continue
        if isinstance(encoding, Encoding) and encoding.symmetric:
            ends = extremes(network.constants[layer.weight].finite())
            reach = max(0.0, float(ends.max())) - min(0.0, float(ends.min()))
            ratios[layer.weight] = encoding.delta * encoding.steps / reach if reach else 1.0
    coarse = [weight for weight, ratio in ratios.items() if ratio > _ONE_SIDED]
    if coarse:
        worst = max(coarse, key=lambda weight: ratios[weight])
        others = f", and of {len(coarse) - 1} others" if len(coarse) > 1 else ""
        yield (
            f"a step of symmetric weight '{worst}' is {ratios[worst]:.3g} times that of asymmetric "
            f"codes{others}: results are less exact than by default where a runtime multiplies by "
            "asymmetric weights, as the DSP up to V62 and tensor processors do; "
            f"{spelled('axis_weights', True)} has symmetric codes without this loss"
        )


def _weight_decision(
    network: Network,
    name: str,
    options: QuantizationOptions,
    encodings: Mapping[str, GivenEncoding],
) -> _Decision[Encoding | AxisEncoding]:
    width, override = _given_width(name, encodings), encodings.get(name)
    if override is not None and not isinstance(override.encoding, Unranged):
        return _Decision(override.encoding, override.source)
    if width is not None:
        options = width.for_weight(options)
    encoding = weight_encoding(network.constants[name].finite(), options)
    return _Decision(encoding, f"weight rule ({weight_words(options)}{_width_remark(width)})")


def _require_float16_range(network: Network, floats: Mapping[str, FloatTensor]) -> None:
    """Raise HexsimError for a constant that should become float16 but exceeds its range."""
    highest = float(np.finfo(np.float16).max)
    for name, float_tensor in floats.items():
        if float_tensor.bits == 16 and name in network.constants:
            largest = float(np.abs(network.constants[name].finite()).max(initial=0.0))
            if largest > highest:
                raise HexsimError(
                    f"constant '{name}' reaches {largest:g} and a float16 {highest:g}; override it "
                    "as a float of 32 bits"
                )


def _from_observation(
    name: str,
    observation: Observation,
    how: str,
    options: QuantizationOptions,
    encodings: Mapping[str, GivenEncoding],
) -> _Decision[Encoding]:
    """Return the encoding of an activation by its override, else by the activation rule.

    `how` names the source of the values, for the origin of the encoding.
    """
    if (decision := _given_range(name, encodings)) is not None:
        return decision
    width, words = _given_width(name, encodings), activation_words(options)
    if width is None:
        encoding = activation_rule(options).encode(observation)
    else:
        encoding = width.stored(activation_rule(width.for_activation(options)).encode(observation))
    return _Decision(encoding, f"{how} ({words}{_width_remark(width)})", how == _CALIBRATION)


def _given_width(name: str, encodings: Mapping[str, GivenEncoding]) -> Unranged | None:
    """Return the override of a tensor if it gives a width and no range."""
    encoding = encodings[name].encoding if name in encodings else None
    return encoding if isinstance(encoding, Unranged) else None


def _width_remark(width: Unranged | None) -> str:
    return f"; {width.bits} bits by override" if width else ""


def _given_range(name: str, encodings: Mapping[str, GivenEncoding]) -> _Decision[Encoding] | None:
    """Return the encoding of an activation by its override if that gives a range."""
    if name not in encodings or _given_width(name, encodings):
        return None
    encoding = encodings[name].encoding
    assert isinstance(encoding, Encoding), f"activation '{name}' cannot have {encoding}"
    return _Decision(encoding, encodings[name].source)


def _encodings_of(decided: Mapping[str, _Decision[_Kind]]) -> dict[str, _Kind]:
    return {name: d.encoding for name, d in decided.items() if d.encoding is not None}
