"""What the remedies of a diagnosis do for the whole network.

An option of the quantiser changes all layers, and noise of many layers partly cancels, so the
gain of one layer alone says little about the outputs. Each remedy is therefore also tried on
every layer at once.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from hexsim.accuracy.causes import suspects
from hexsim.accuracy.diagnosis import Diagnosis
from hexsim.accuracy.layer_errors import LayerError
from hexsim.accuracy.outputs import OutputJudge
from hexsim.quantization.quantized import QuantizedNetwork
from hexsim.quantization.quantizer import moves_codes


@dataclass(frozen=True)
class RemedyTrial:
    """SQNR of the outputs (before a final softmax) as it is, and with the remedy everywhere."""

    remedy: str
    before_db: float
    after_db: float


def try_remedies(
    model: QuantizedNetwork,
    errors: Sequence[LayerError],
    diagnoses: Sequence[Diagnosis],
    judge: OutputJudge,
) -> tuple[RemedyTrial, ...]:
    """Try every remedy that `diagnoses` name on the whole network, best first."""
    remedies = dict.fromkeys(f.cause.remedy for d in diagnoses for f in d.findings)
    if not remedies:
        return ()
    before = judge.sqnr_db(model, judge.takes)
    trials = [
        RemedyTrial(remedy, before, judge.sqnr_db(everywhere(remedy, model, errors), judge.takes))
        for remedy in remedies
    ]
    return tuple(sorted(trials, key=lambda trial: -trial.after_db))


def everywhere(
    remedy: str, model: QuantizedNetwork, errors: Sequence[LayerError]
) -> QuantizedNetwork:
    """The model with `remedy` applied to every layer that could do with it."""
    by_tensor = {row.tensor: row for row in errors}
    for layer in model.network.layers:
        for cause in suspects(layer, model, by_tensor):
            if cause.remedy == remedy:
                model = cause.remedied
    activations = dict(model.activations)
    for layer in model.network.layers:  # as the quantiser does, which would else be overruled
        if moves_codes(layer) and layer.inputs[0] in activations:
            activations[layer.output] = activations[layer.inputs[0]]
    return replace(model, activations=activations)
