"""The figures of a validation: errors, ranges, diagnoses with their remedies, and findings."""

import math
from collections.abc import Iterable
from operator import attrgetter
from typing import Any

from hexsim.accuracy.scores import sqnr_label
from hexsim.quantization.evidence import Finding
from hexsim.quantization.model import Reference
from hexsim.reports.pages.case_figures import most_of
from hexsim.reports.pages.figures.distributions import distributions_figure
from hexsim.reports.pages.figures.figure import Figure, FigureTable
from hexsim.reports.pages.figures.layer_errors import errors_figure, ranges_figure
from hexsim.reports.validation import remedy_text, useless
from hexsim.results.costs import Loss
from hexsim.results.validation import TensorError, Validation, as_db, db_text
from hexsim.texts.figures import figure


def validation_figures(study: Validation) -> list[Figure]:
    """Return the figures of a validation, each only if the study has its data."""
    makers = (_outputs_figure, _diagnoses_figure, _remedies_figure, _sensitivity_figure)
    of_study = [make(study) for make in makers]
    figures = [errors_figure(study.layers), *of_study, *findings_figure(study.findings)]
    figures += [ranges_figure(study.layers), distributions_figure(study.distributions or ())]
    return [drawn for drawn in figures if drawn is not None]


def output_error(db: float | None, reference: Reference) -> tuple[str, str]:
    """Return the entry of a summary on the SQNR of the outputs, if they have an error."""
    error = "no error" if db is None or math.isinf(db) else f"{figure(db)} dB"
    return sqnr_label(reference), error


def _outputs_figure(study: Validation) -> Figure | None:
    outputs = study.outputs
    if len(outputs) < 2:
        return None
    rows = [(output.tensor, output.sqnr_db) for output in outputs]
    text = f"{sqnr_label(study.output_sqnr_reference)}, each over all inputs; the worst decides."
    return Figure("Outputs", text, FigureTable(("output", "SQNR dB"), rows))


def most_noise(errors: Iterable[TensorError]) -> str:
    """Return a sentence on the layers that add most noise."""
    added: dict[str, float] = {}
    for row in errors:
        if row.noise > 0:
            added[row.layer] = added.get(row.layer, 0.0) + row.noise
    return most_of(added, sum(added.values()), "of the noise that layers add", verb="cause")


def remedy_answer(study: Validation) -> tuple[str, ...]:
    """Return a sentence on the best remedy; none if none was tried."""
    if not study.remedies:
        return ()
    best = study.remedies[0]
    if not best.helps:
        return ("None of the remedies that were tried makes the outputs better.",)
    what = best.remedies[0] if len(best.remedies) == 1 else f"{len(best.remedies)} of them together"
    gain = f"{db_text(best.before_db)} dB to {db_text(best.after_db)} dB"
    return (f"The best remedies take {gain}: {what}.",)


def _diagnoses_figure(study: Validation) -> Figure | None:
    """Return each cause once; a layer without any has a row that says so."""
    if not study.diagnoses:
        return None
    rows: list[tuple[Any, ...]] = []
    for diagnosis in study.diagnoses:
        causes: list[tuple[Any, ...]] = [
            attrgetter("kind", "finding", "remedy", "remedied_db")(cause)
            for cause in diagnosis.findings
        ] or [(None, "nothing found that an option would improve", None, None)]
        rows += [(diagnosis.layer, diagnosis.type, diagnosis.alone_db, *cause) for cause in causes]
    header = ("layer", "type", "alone dB", "cause", "finding", "remedy", "then dB")
    text = (
        "Why the layers that add most noise lose accuracy, each alone on float inputs, and its "
        "SQNR with the remedy; the dominating cause of a layer is first."
    )
    return Figure("Diagnoses", text, FigureTable(header, list(dict.fromkeys(rows))))


def _remedies_figure(study: Validation) -> Figure | None:
    if not study.remedies:
        return None
    helpful = [trial for trial in study.remedies if trial.helps]
    rows = [
        (
            remedy_text(trial, helpful),
            trial.after_db,
            as_db(trial.after_db) - as_db(trial.before_db),
        )
        for trial in helpful
    ]
    text = (
        f"Tried on all layers at once: {sqnr_label(study.output_sqnr_reference)} before a final "
        f"softmax, {db_text(study.remedies[0].before_db)} dB as it is. {useless(study.remedies)}"
    )
    header = ("remedy", "SQNR dB", "gain dB")
    return Figure("Remedies", text, FigureTable(header, rows))


def _sensitivity_figure(study: Validation) -> Figure | None:
    if study.sensitivity is None:
        return None
    ranked = study.sensitivity
    rows = list(map(attrgetter("layer", "type", "only_db", "others_db"), ranked.layers))
    text = (
        f"{sqnr_label(study.output_sqnr_reference)} before a final softmax, "
        f"{db_text(ranked.all_db)} dB with all layers in integers: with only this layer in "
        "integers, the worst first, and with all but this one."
    )
    header = ("layer", "type", "only this dB", "all but this dB")
    return Figure("Sensitivity", text, FigureTable(header, rows))


def findings_figure(findings: Iterable[Finding | Loss]) -> list[Figure]:
    """Return a figure of the losses, each once; none without any."""
    rows = list(map(attrgetter("layer", "tensor", "kind", "sentence"), findings))
    if not rows:
        return []
    text = (
        "Values that the encodings lose for certain, and time that HTA sections cost, the largest "
        "share first."
    )
    header = ("layer", "tensor", "kind", "finding")
    return [Figure("Findings", text, FigureTable(header, list(dict.fromkeys(rows))))]
