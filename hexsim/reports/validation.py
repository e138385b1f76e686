"""A validation as text, scores, layers, sensitivity and explanations, and as CSV of its layers."""

from collections.abc import Iterator, Sequence

from hexsim.reports.info import rescaling_line
from hexsim.reports.text import number, short_names, table
from hexsim.results.accuracy import db_text, each_output, sqnr_label, sqnr_text
from hexsim.results.validation import (
    BeforeEqualization,
    Diagnosis,
    LayerSensitivity,
    RemedyTrial,
    Sensitivity,
    TensorError,
    Validation,
)
from hexsim.runtimes import placed
from hexsim.texts.csv_text import csv_text
from hexsim.texts.figures import decibels, percent, span

WORST_LAYERS = 10
"""The number of rows of the table of layers, unless every layer is requested."""

LAYER_HEADER = (
    *("layer", "type", "on", "SQNR dB", "cosine", "max error", "adds"),
    *("encoding", "seen", "clipped"),
)
_FIRST_TO_GO = tuple(
    map(LAYER_HEADER.index, ("seen", "encoding", "cosine", "clipped", "max error", "on"))
)


def validation_text(answer: Validation, *, every_layer: bool = False) -> str:
    """Return all of `answer`; layers in network order, or the ten that add most noise."""
    label = sqnr_label(answer.output_sqnr_reference)
    parts = ["\n".join(_summary(answer, label)), _layers(answer, every_layer)]
    if answer.sensitivity is not None:
        parts.append(_sensitivity(answer.sensitivity, label))
    if answer.diagnoses is not None:
        parts.append("\n\n".join("\n".join(_diagnosis(d)) for d in answer.diagnoses))
    if answer.remedies:
        parts.append(_remedies(answer.remedies, label))
    return "\n\n".join(part for part in parts if part)


def _summary(answer: Validation, label: str) -> Iterator[str]:
    hits = answer.hits
    where = placed(answer.network, answer.runtime, answer.chip, answer.precision)
    yield f"{where}: {number(hits.inputs, 'input')} compared with float"
    yield from (f"  {note}" for note in answer.notes)
    places = (
        ("top-1", hits.float_top1, hits.runtime_top1),
        ("top-5", hits.float_top5, hits.runtime_top5),
    )
    for kind, in_float, on_runtime in places:
        if in_float is not None and on_runtime is not None:
            yield (
                f"{kind}: float {percent(in_float / hits.inputs)}, "
                f"{answer.runtime} {percent(on_runtime / hits.inputs)}"
            )
    if hits.same_top1 is not None:
        yield f"same winner as float: {hits.same_top1} of {hits.inputs}"
    else:
        yield f"{answer.network} scores no classes, so it has no top-1."
    yield f"{label}: {sqnr_text(answer.outputs)}"
    if outputs := each_output(answer.outputs):
        yield f"  {outputs}"
    if answer.before_equalization is not None:
        yield from _original(answer.before_equalization)
    yield from (f"  {note}" for note in answer.output_notes)
    if answer.rescaled_weights:
        yield rescaling_line(answer.rescaled_weights)


def _original(original: BeforeEqualization) -> Iterator[str]:
    """Yield the comparison with the float file before equalisation."""
    hits = original.hits
    if hits.float_top1 is not None:
        places = (("top-1", hits.float_top1), ("top-5", hits.float_top5))
        shares = (f"{kind} {percent(n / hits.inputs)}" for kind, n in places if n is not None)
        yield f"float model before equalisation: {', '.join(shares)}"
    winners = "" if hits.same_top1 is None else f"same winner {hits.same_top1} of {hits.inputs}, "
    yield (
        f"against the float model before equalisation: {winners}SQNR of the outputs "
        f"{sqnr_text(original.outputs)}"
    )


def _layers(answer: Validation, every_layer: bool) -> str:
    rows = answer.layers if every_layer else answer.worst(WORST_LAYERS)
    title = "all layers in network order" if every_layer else "layers that add most noise, first"
    cells = [_layer(row) for row in rows]
    body = table(LAYER_HEADER, cells, left=frozenset({0, 1, 2}), first_to_go=_FIRST_TO_GO)
    return f"{title} (adds: noise in % of the signal's power, beyond the noisiest input's)\n{body}"


def _layer(row: TensorError) -> tuple[str, ...]:
    encoding = row.encoding
    return (
        row.layer if row.layer == row.tensor else f"{row.layer} ({row.tensor})",
        row.type,
        row.runtime,
        db_text(row.sqnr_db),
        "nan" if row.cosine is None else f"{row.cosine:.5f}",
        db_text(row.max_error),
        percent(row.noise),
        span(encoding.min, encoding.max) if encoding else "",
        span(*row.seen),
        percent(row.clipped) if encoding else "",
    )


SENSITIVITY_HEADER = ("layer", "type", "only this dB", "all but this dB")


def sensitivity_table(ranked: Sensitivity) -> str:
    """Return a table of what quantising one layer at a time costs."""
    names = short_names([row.layer for row in ranked.layers])
    rows = [
        (name, row.type, decibels(row.only_db), decibels(row.others_db))
        for name, row in zip(names, ranked.layers, strict=True)
    ]
    return table(SENSITIVITY_HEADER, rows, left=frozenset({0, 1}))


def _sensitivity(ranked: Sensitivity, label: str) -> str:
    return (
        f"sensitivity: {label} (before a final softmax) over {ranked.inputs} inputs, "
        f"{db_text(ranked.all_db)} dB with all layers in integers\n{sensitivity_table(ranked)}"
    )


def _diagnosis(diagnosis: Diagnosis) -> Iterator[str]:
    alone = f"alone on float inputs: {db_text(diagnosis.alone_db)} dB"
    head = f"{diagnosis.layer} ({diagnosis.type}), {alone}"
    if not diagnosis.findings:
        yield f"{head}; nothing found that an option would improve"
        return
    yield head
    for rank, cause in enumerate(diagnosis.findings):
        then = db_text(cause.remedied_db)
        yield f"  {'dominates' if rank == 0 else 'also'}: {cause.kind}. {cause.finding}"
        yield f"    try: {cause.remedy}; this layer alone then has {then} dB"


def _remedies(trials: Sequence[RemedyTrial], label: str) -> str:
    head = (
        f"remedies tried on all layers at once: {label} (before a final softmax), "
        f"{db_text(trials[0].before_db)} dB as it is"
    )
    helpful = [trial for trial in trials if trial.helps]
    lines = [f"{db_text(trial.after_db)} dB: {remedy_text(trial, helpful)}" for trial in helpful]
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


def validation_csv(answer: Validation) -> str:
    """Return the layers as CSV text; the last two columns are filled by a sensitivity study."""
    sensitivity = answer.sensitivity
    ranked = {} if sensitivity is None else {row.layer: row for row in sensitivity.layers}
    return csv_text(_COLUMNS, (_cells(row, ranked.get(row.layer)) for row in answer.layers))


_SAME = ("layer", "type", "tensor", "runtime", "sqnr_db", "cosine", "max_error", "added_noise")
_COLUMNS = (
    *_SAME,
    *("encoding_min", "encoding_max", "seen_min", "seen_max", "clipped", "only_db", "others_db"),
)


def _cells(row: TensorError, ranked: LayerSensitivity | None) -> list[object]:
    coded = row.encoding
    ends = (None, None) if coded is None else (coded.min, coded.max)
    alone = (None, None) if ranked is None else (ranked.only_db, ranked.others_db)
    clipped = None if coded is None else row.clipped
    return [*(getattr(row, key) for key in _SAME), *ends, row.low, row.high, clipped, *alone]
