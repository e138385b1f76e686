"""Experiments on the whole network: which layers lose most accuracy, and what remedies give.

Sensitivity has two experiments per layer, both with the integer kernels of the runtime: only this
layer is a fixed-point subnet, and all layers but this one are. The inputs and the output of a layer
in integers are quantised as well, so a bad range of a tensor shows in both its neighbours. Left
out: layers that only move codes, layers that fall back to the CPU anyway, and a final softmax.

A remedy changes all layers, since an option of the quantiser does: noise of many layers partly
cancels, so the gain of one layer alone says little about the outputs, and a remedy may show its
effect only after another one has removed other noise. So each is tried on every layer at once, then
all together that do no harm alone. Cross-layer equalization changes chains of layers and every
range inside them, and replaces per-channel weights: the network is quantised again in the same
modes, and it is tried alone.
"""

from collections import Counter
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import replace
from typing import Literal, cast

from hexsim.accuracy.diagnosis import OUTLIER, Errors, suspects
from hexsim.accuracy.outputs import OutputJudge
from hexsim.errors import spelled
from hexsim.graph.ir import FloatArray
from hexsim.quantization.encodings import AxisEncoding, Encoding
from hexsim.quantization.equalization import equalize, find_chains
from hexsim.quantization.model import Model
from hexsim.quantization.options import QuantizationOptions
from hexsim.quantization.quantizer import quantize
from hexsim.results.accuracy import as_db
from hexsim.results.validation import LayerSensitivity, RemedyTrial, Sensitivity, TensorError
from hexsim.texts.fields import finite


def sensitivity(
    model: Model,
    judge: OutputJudge,
    progress: Callable[[int, int], None] = lambda done, total: None,
) -> Sensitivity:
    """Measure every layer of `model` on the inputs and the runtime of `judge`."""
    ranked = [
        layer
        for layer in judge.network.layers
        if layer.name in judge.takes and not layer.moves_codes
    ]
    rows = []
    for done, layer in enumerate(ranked, start=1):
        only_db = judge.sqnr_db(model, {layer.name})
        others_db = judge.sqnr_db(model, judge.takes - {layer.name})
        rows.append(
            LayerSensitivity(
                layer=layer.name,
                type=layer.type,
                only_db=finite(only_db),
                others_db=finite(others_db),
            )
        )
        progress(done, len(ranked))
    rows.sort(key=lambda row: as_db(row.only_db))
    all_db = finite(judge.sqnr_db(model, judge.takes))
    return Sensitivity(inputs=len(judge.inputs), all_db=all_db, layers=tuple(rows))


def equalization_remedy() -> str:
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


def try_remedies(
    model: Model, errors: Sequence[TensorError], judge: OutputJudge
) -> tuple[RemedyTrial, ...]:
    """Try each remedy suggested for a layer on the whole network; best first.

    Then those that did no harm are tried together.
    """
    before = judge.sqnr_db(model, judge.takes)

    def trial(remedies: tuple[str, ...], remedied: Model) -> RemedyTrial:
        after = judge.sqnr_db(remedied, judge.takes)
        return RemedyTrial(remedies=remedies, before_db=finite(before), after_db=finite(after))

    def tried(*remedies: str) -> RemedyTrial:
        return trial(remedies, everywhere(remedies, model, errors))

    trials = [tried(remedy) for remedy in _remedies(model, errors, judge)]
    harmless = [single.remedies[0] for single in trials if as_db(single.after_db) >= before]
    if len(harmless) > 1:
        trials.append(tried(*harmless))
    if could_equalize(model, judge.takes, {row.tensor: row for row in errors}):
        trials.append(trial((equalization_remedy(),), equalized(model, judge.inputs)))
    return tuple(sorted(trials, key=lambda trial: -as_db(trial.after_db)))


def everywhere(remedies: Sequence[str], model: Model, errors: Sequence[TensorError]) -> Model:
    """Return the model with `remedies` applied to every layer for which they are suggested."""
    by_tensor = {row.tensor: row for row in errors}
    for remedy in remedies:
        for layer in model.network.layers:
            for cause in suspects(layer, model, by_tensor):
                if cause.remedy == remedy:
                    model = cause.remedied
    activations = dict(model.activations)
    for layer in model.network.layers:  # as in the quantiser
        if layer.moves_codes and layer.inputs[0] in activations:
            activations[layer.output] = activations[layer.inputs[0]]
    return replace(model, activations=activations)


def _remedies(model: Model, errors: Sequence[TensorError], judge: OutputJudge) -> tuple[str, ...]:
    by_tensor = {row.tensor: row for row in errors}
    layers = (layer for layer in judge.network.layers if layer.name in judge.takes)
    causes = (cause for layer in layers for cause in suspects(layer, model, by_tensor))
    return tuple(dict.fromkeys(cause.remedy for cause in causes))
