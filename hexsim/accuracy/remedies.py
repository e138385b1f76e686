"""Measure the effect of remedies on the whole network.

An option of the quantiser changes all layers, and noise of many layers partly cancels, so the
gain of one layer alone says little about the outputs; and a remedy may show its effect only after
another one has removed other noise. So each is tried on every layer at once, then all together
that do no harm alone.
Cross-layer equalization (hexsim.accuracy.cross_layer), which replaces per-channel weights, is tried
alone.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace

from hexsim.accuracy import cross_layer
from hexsim.accuracy.causes import suspects
from hexsim.accuracy.layer_errors import LayerError
from hexsim.accuracy.outputs import OutputJudge
from hexsim.quantization.model import Model


@dataclass(frozen=True)
class RemedyTrial:
    """SQNR of the outputs (before a final softmax) as it is, and with `remedies` everywhere."""

    remedies: tuple[str, ...]
    before_db: float
    after_db: float

    @property
    def helps(self) -> bool:
        """Whether the outputs are better with it, in the decimals that are shown."""
        return round(self.after_db, 1) > round(self.before_db, 1)


def try_remedies(
    model: Model, errors: Sequence[LayerError], judge: OutputJudge
) -> tuple[RemedyTrial, ...]:
    """Try each remedy suggested for a layer on the whole network; best first.

    Then those that did no harm are tried together.
    """
    before = judge.sqnr_db(model, judge.takes)

    def trial(remedies: tuple[str, ...], remedied: Model) -> RemedyTrial:
        return RemedyTrial(remedies, before, judge.sqnr_db(remedied, judge.takes))

    def tried(*remedies: str) -> RemedyTrial:
        return trial(remedies, everywhere(remedies, model, errors))

    trials = [tried(remedy) for remedy in _remedies(model, errors, judge)]
    harmless = [single.remedies[0] for single in trials if single.after_db >= before]
    if len(harmless) > 1:
        trials.append(tried(*harmless))
    if cross_layer.could_equalize(model, judge.takes, {row.tensor: row for row in errors}):
        trials.append(trial((cross_layer.remedy(),), cross_layer.equalized(model, judge.inputs)))
    return tuple(sorted(trials, key=lambda trial: -trial.after_db))


def everywhere(remedies: Sequence[str], model: Model, errors: Sequence[LayerError]) -> Model:
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


def _remedies(model: Model, errors: Sequence[LayerError], judge: OutputJudge) -> tuple[str, ...]:
    by_tensor = {row.tensor: row for row in errors}
    layers = (layer for layer in judge.network.layers if layer.name in judge.takes)
    causes = (cause for layer in layers for cause in suspects(layer, model, by_tensor))
    return tuple(dict.fromkeys(cause.remedy for cause in causes))
