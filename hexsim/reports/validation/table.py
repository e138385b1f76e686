"""A validation as text: scores, layers, sensitivity and explanations."""

from collections.abc import Iterator, Sequence

from hexsim.accuracy.diagnosis import Diagnosis
from hexsim.accuracy.layer_errors import LayerError, most_added
from hexsim.accuracy.output_errors import each_output, sqnr_text
from hexsim.accuracy.remedies import RemedyTrial
from hexsim.accuracy.scores import sqnr_label
from hexsim.accuracy.sensitivity import Sensitivity
from hexsim.accuracy.study import Study
from hexsim.accuracy.validation import Original, Validation
from hexsim.reports.network.rescaling import rescaling_line
from hexsim.reports.text import number, table
from hexsim.texts.figures import figure, percent, span

WORST_LAYERS = 10
"""The number of rows of the table of layers, unless every layer is requested."""

LAYER_HEADER = (
    *("layer", "type", "on", "SQNR dB", "cosine", "max error", "adds"),
    *("encoding", "seen", "clipped"),
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
                f"{kind}: float {percent(float_hits / hits.inputs)}, "
                f"{study.runtime} {percent(runtime_hits / hits.inputs)}"
            )
    if study.validation.classes:
        yield f"same winner as float: {hits.same_top1} of {hits.inputs}"
    else:
        yield f"{study.network} scores no classes, so it has no top-1."
    yield f"{label}: {sqnr_text(study.validation.outputs)}"
    if outputs := each_output(study.validation.outputs):
        yield f"  {outputs}"
    if study.validation.original is not None:
        yield from _original(study.validation.original, study.validation)
    yield from (f"  {note}" for note in study.validation.notes)
    if study.validation.rescaled:
        yield rescaling_line(study.validation.rescaled)


def _original(original: Original, validation: Validation) -> Iterator[str]:
    """Yield the comparison with the float file before equalisation."""
    hits = original.hits
    if validation.labelled:
        top5 = f", top-5 {percent(hits.float_top5 / hits.inputs)}" if validation.ranked else ""
        top1 = percent(hits.float_top1 / hits.inputs)
        yield f"float model before equalisation: top-1 {top1}{top5}"
    winners = f"same winner {hits.same_top1} of {hits.inputs}, " if validation.classes else ""
    yield (
        f"against the float model before equalisation: {winners}SQNR of the outputs "
        f"{sqnr_text(original.outputs)}"
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
        figure(row.sqnr_db),
        f"{row.cosine:.5f}",
        figure(row.max_error),
        percent(row.added_noise),
        span(encoding.min, encoding.max) if encoding else "",
        span(row.low, row.high),
        percent(row.clipped) if encoding else "",
    )


def _sensitivity(sensitivity: Sensitivity, label: str) -> str:
    header = ("layer", "type", "only this dB", "all but this dB")
    rows = [
        (row.layer, row.type, figure(row.only_db), figure(row.others_db))
        for row in sensitivity.layers
    ]
    return (
        f"sensitivity: {label} (before a final softmax) over {sensitivity.inputs} inputs, "
        f"{figure(sensitivity.all_db)} dB with all layers in integers\n"
        + table(header, rows, left=frozenset({0, 1}))
    )


def _diagnosis(diagnosis: Diagnosis) -> Iterator[str]:
    alone = f"alone on float inputs: {figure(diagnosis.alone_db)} dB"
    head = f"{diagnosis.layer} ({diagnosis.type}), {alone}"
    if not diagnosis.findings:
        yield f"{head}; nothing found that an option would improve"
        return
    yield head
    for rank, finding in enumerate(diagnosis.findings):
        cause = finding.cause
        yield f"  {'dominates' if rank == 0 else 'also'}: {cause.kind}. {cause.finding}"
        yield f"    try: {cause.remedy}; this layer alone then has {figure(finding.remedied_db)} dB"


def _remedies(trials: Sequence[RemedyTrial], label: str) -> str:
    head = (
        f"remedies tried on all layers at once: {label} (before a final softmax), "
        f"{figure(trials[0].before_db)} dB as it is"
    )
    helpful = [trial for trial in trials if trial.helps]
    lines = [f"{figure(trial.after_db)} dB: {remedy_text(trial, helpful)}" for trial in helpful]
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
