"""A validation as text: scores, layers, sensitivity and explanations."""

from collections.abc import Iterator, Sequence

from hexsim.accuracy.diagnosis import Diagnosis
from hexsim.accuracy.layer_errors import LayerError, most_added
from hexsim.accuracy.remedies import RemedyTrial
from hexsim.accuracy.scores import sqnr_label
from hexsim.accuracy.sensitivity import Sensitivity
from hexsim.accuracy.study import Study
from hexsim.accuracy.validation import Original, Validation
from hexsim.reports.network.rescaling import rescaling_line
from hexsim.reports.text import number, table

WORST_LAYERS = 10
"""The number of rows of the table of layers, unless every layer is requested."""

LAYER_HEADER = (
    "layer",
    "type",
    "on",
    "SQNR dB",
    "cosine",
    "max error",
    "adds",
    "encoding",
    "seen",
    "clipped",
)
_FIRST_TO_GO = tuple(
    map(LAYER_HEADER.index, ("seen", "encoding", "cosine", "clipped", "max error", "on"))
)


def validation_text(study: Study, *, every_layer: bool) -> str:
    """Return all of `study`; layers in network order, or the ten that add most noise."""
    label = sqnr_label(study.validation.reference)
    parts = ["\n".join(_summary(study, label)), _layers(study.validation.layers, every_layer)]
    if study.sensitivity is not None:
        parts.append(_sensitivity(study.sensitivity, label))
    if study.diagnoses is not None:
        parts.append("\n\n".join("\n".join(_diagnosis(d)) for d in study.diagnoses))
    if study.remedies:
        parts.append(_remedies(study.remedies, label))
    return "\n\n".join(part for part in parts if part)


def _summary(study: Study, label: str) -> Iterator[str]:
    hits = study.validation.hits
    yield f"{study.network} on {study.chip} {study.runtime}, {number(hits.inputs, 'input')}"
    yield from (f"  {note}" for note in study.notes)
    if study.validation.labelled:
        kinds = [("top-1", hits.float_top1, hits.runtime_top1)]
        if study.validation.ranked:
            kinds.append(("top-5", hits.float_top5, hits.runtime_top5))
        for kind, float_hits, runtime_hits in kinds:
            yield (
                f"{kind}: float {float_hits / hits.inputs:.2%}, "
                f"{study.runtime} {runtime_hits / hits.inputs:.2%}"
            )
    if study.validation.classes:
        yield f"same winner as float: {hits.same_top1} of {hits.inputs}"
    else:
        yield f"{study.network} scores no classes, so it has no top-1."
    yield f"{label}: {study.validation.output_sqnr_db:.1f} dB"
    if study.validation.original is not None:
        yield from _original(study.validation.original, study.validation)
    yield from (f"  {note}" for note in study.validation.notes)
    if study.validation.rescaled:
        yield rescaling_line(study.validation.rescaled)


def _original(original: Original, validation: Validation) -> Iterator[str]:
    """Yield the comparison with the float file before equalisation."""
    hits = original.hits
    if validation.labelled:
        top5 = f", top-5 {hits.float_top5 / hits.inputs:.2%}" if validation.ranked else ""
        yield f"float model before equalisation: top-1 {hits.float_top1 / hits.inputs:.2%}{top5}"
    winners = f"same winner {hits.same_top1} of {hits.inputs}, " if validation.classes else ""
    yield (
        f"against the float model before equalisation: {winners}SQNR of the outputs "
        f"{original.output_sqnr_db:.1f} dB"
    )


def _layers(errors: Sequence[LayerError], every_layer: bool) -> str:
    rows = list(errors) if every_layer else most_added(tuple(errors))[:WORST_LAYERS]
    title = "all layers in network order" if every_layer else "layers that add most noise, first"
    cells = [_layer(row) for row in rows]
    body = table(LAYER_HEADER, cells, left=frozenset({0, 1, 2}), first_to_go=_FIRST_TO_GO)
    return f"{title} (adds: noise in % of the signal's power, beyond the noisiest input's)\n{body}"


def _layer(row: LayerError) -> tuple[str, ...]:
    encoding = row.encoding
    return (
        row.layer if row.layer == row.tensor else f"{row.layer} ({row.tensor})",
        row.type,
        row.runtime,
        f"{row.sqnr_db:.1f}",
        f"{row.cosine:.5f}",
        f"{row.max_error:.3g}",
        f"{100 * row.added_noise:.3g}%",
        f"{encoding.min:.4g} .. {encoding.max:.4g}" if encoding else "",
        f"{row.low:.4g} .. {row.high:.4g}",
        f"{row.clipped:.2%}" if encoding else "",
    )


def _sensitivity(sensitivity: Sensitivity, label: str) -> str:
    header = ("layer", "type", "only this dB", "all but this dB")
    rows = [
        (row.layer, row.type, f"{row.only_db:.1f}", f"{row.others_db:.1f}")
        for row in sensitivity.layers
    ]
    return (
        f"sensitivity: {label} (before a final softmax) over "
        f"{sensitivity.inputs} inputs, {sensitivity.all_db:.1f} dB with all layers in integers\n"
        + table(header, rows, left=frozenset({0, 1}))
    )


def _diagnosis(diagnosis: Diagnosis) -> Iterator[str]:
    head = (
        f"{diagnosis.layer} ({diagnosis.type}), alone on float inputs: {diagnosis.alone_db:.1f} dB"
    )
    if not diagnosis.findings:
        yield f"{head}; nothing found that an option would improve"
        return
    yield head
    for rank, finding in enumerate(diagnosis.findings):
        cause = finding.cause
        yield f"  {'dominates' if rank == 0 else 'also'}: {cause.kind}. {cause.finding}"
        yield f"    try: {cause.remedy}; this layer alone then has {finding.remedied_db:.1f} dB"


def _remedies(trials: Sequence[RemedyTrial], label: str) -> str:
    head = (
        f"remedies tried on all layers at once: {label} (before a final softmax), "
        f"{trials[0].before_db:.1f} dB as it is"
    )
    helpful = [trial for trial in trials if trial.helps]
    lines = [f"{trial.after_db:.1f} dB: {remedy_text(trial, helpful)}" for trial in helpful]
    return "\n  ".join([head, *lines, *filter(None, [useless(trials)])])


def useless(trials: Sequence[RemedyTrial]) -> str:
    """Return a sentence on the trials that do not make the outputs better, if there are any."""
    count = sum(not trial.helps for trial in trials)
    return f"{number(count, 'other trial')} did not make the outputs better." if count else ""


def remedy_text(trial: RemedyTrial, helpful: Sequence[RemedyTrial]) -> str:
    """Return what a trial changes; `helpful` are the trials that stand beside it."""
    if len(trial.remedies) == 1:
        return trial.remedies[0]
    alone = {other.remedies[0] for other in helpful if len(other.remedies) == 1}
    if alone == set(trial.remedies):
        return "all of these together"
    return f"together: {'; '.join(trial.remedies)}"
