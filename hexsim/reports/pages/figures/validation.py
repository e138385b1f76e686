"""A validation as figures: errors, ranges, values, diagnoses with their remedies, and findings.

Histograms of float values have a logarithmic axis, since often most values are zero and few are
clipped. Below the bars a ruler has a stripe for every other quantised value (code), each one step
wide.
"""

import math
from collections.abc import Iterable, Iterator, Sequence
from operator import attrgetter
from typing import Any, NamedTuple

from hexsim.quantization.encodings import Encoding
from hexsim.quantization.evidence import Loss
from hexsim.quantization.model import Reference
from hexsim.reports.colours import BAD, ENCODING, GREY, MAIN, MARKED
from hexsim.reports.pages.figures.chart import (
    Chart,
    Columns,
    Figure,
    FigureTable,
    columns_of,
    most_of,
    table_of,
)
from hexsim.reports.text import number
from hexsim.reports.validation import SENSITIVITY_HEADER, remedy_text, useless
from hexsim.results.accuracy import as_db, db_text, sqnr_label
from hexsim.results.validation import Distribution, Sensitivity, TensorError, Validation, most_added
from hexsim.texts.figures import figure, percent

_HEIGHT = 420
"""With room for the names of layers, in px."""
_WORST = 5
"""The number of tensors whose layers add most noise, which are marked."""


def errors_figure(layers: Sequence[TensorError]) -> Figure:
    """Return the figure of the SQNR by tensor."""
    drawn = [(number, row) for number, row in enumerate(layers) if row.sqnr_db is not None]
    worst = most_added(layers)[:_WORST]
    tooltip = (
        ("", "{name}"),
        ("tensor", "{tensor}"),
        ("SQNR", "{y} dB"),
        ("largest error", "{largest}"),
    )
    plot = Chart("", "SQNR, dB", _HEIGHT, tooltip=tooltip, columns=[row.layer for row in layers])
    columns: dict[str, list[Any]] = {
        "name": [row.layer for _, row in drawn],
        "tensor": [row.tensor for _, row in drawn],
        "x": [number for number, _ in drawn],
        "y": [row.sqnr_db for _, row in drawn],
        "largest": [row.max_error for _, row in drawn],
        "colour": [MARKED if any(row is other for other in worst) else MAIN for _, row in drawn],
    }
    plot.draw("line", x=columns["x"], y=columns["y"], colour=f"{MAIN}80")
    plot.draw("points", size=7, **columns)
    header = {
        **{key: key for key in ("layer", "type", "tensor", "runtime")},
        **{"SQNR dB": "sqnr_db", "cosine": "cosine", "largest error": "max_error"},
        **{"added noise": "added_noise", "low": "low", "high": "high", "clipped": "clipped"},
    }
    exact = len(layers) - len(drawn)
    remark = f" Not drawn: {number(exact, 'tensor')} without any error." if exact else ""
    return Figure(
        "Error by layer",
        "Signal over noise of every tensor against the float network, in the order of the network; "
        f"more is better.{remark}",
        table_of(layers, header),
        plot,
        ((MARKED, "adds most noise"), (MAIN, "others")),
    )


_CODED = {"code low": "encoding.min", "code high": "encoding.max", "step": "encoding.delta"}
_RANGES: Columns = {
    **{"layer": "layer", "tensor": "tensor", "float low": "low", "float high": "high"},
    **{**_CODED, "offset": "encoding.offset", "bits": "encoding.bitwidth"},
    "headroom in bits": lambda row: _headroom(_shares(row, row.encoding)),
}


def ranges_figure(layers: Sequence[TensorError]) -> Figure | None:
    """Return the share of its codes that each tensor uses; None without encodings."""
    quantised = [(row, row.encoding) for row in layers if row.encoding]
    if not quantised:
        return None
    shares = [_shares(row, encoding) for row, encoding in quantised]
    columns: dict[str, list[Any]] = {
        "name": [row.layer for row, _ in quantised],
        "tensor": [row.tensor for row, _ in quantised],
        **{key: [getattr(row, key) for row, _ in quantised] for key in ("low", "high")},
        **{key: [getattr(each, key) for _, each in quantised] for key in ("min", "max")},
        "first": [max(0.0, first) for first, _ in shares],
        "last": [min(1.0, last) for _, last in shares],
        "below": [min(0.0, first) for first, _ in shares],
        "above": [max(1.0, last) for _, last in shares],
        "bits": [_headroom(pair) for pair in shares],
    }
    tooltip = (
        *(("", "{name}"), ("tensor", "{tensor}"), ("floats", "{low} to {high}")),
        *(("codes", "{min} to {max}"), ("headroom", "{bits} bits")),
    )
    names = columns["name"]
    plot = Chart("", "range of the codes", _HEIGHT, tooltip=tooltip, columns=names)
    said = ("name", "tensor", "low", "high", "min", "max", "bits")
    style: dict[str, Any] = {key: columns[key] for key in said}
    style["left"] = [number - 0.4 for number in range(len(names))]
    style["right"] = [number + 0.4 for number in range(len(names))]
    first, last = columns["first"], columns["last"]
    bars = ((0, 1, ENCODING), (1, columns["above"], BAD), (columns["below"], 0, BAD))
    for bottom, top, colour in (*bars, (first, last, MAIN)):
        plot.draw("rects", bottom=bottom, top=top, colour=colour, **style)
    return Figure(
        "Ranges and headroom",
        "The floats that were seen, within the range of the codes of their tensor: 0 is the lowest "
        f"code and 1 the highest. {_most_headroom(columns)}",
        table_of((row for row, _ in quantised), _RANGES),
        plot,
        (
            (MAIN, "floats that were seen"),
            (ENCODING, "headroom: codes that nothing used"),
            (BAD, "floats beyond the codes: clipped"),
        ),
    )


def _shares(row: TensorError, encoding: Encoding) -> tuple[float, float]:
    """Return where the floats begin and end in the range of the codes, which is 0 .. 1."""
    span = (encoding.max - encoding.min) or 1.0
    first, last = row.seen
    return (first - encoding.min) / span, (last - encoding.min) / span


def _headroom(shares: tuple[float, float]) -> float:
    """Return how many bits fewer the codes would need if their range were that of the floats."""
    first, last = max(0.0, shares[0]), min(1.0, shares[1])
    return -math.log2(last - first) if last > first else 0.0


def _most_headroom(columns: dict[str, list[Any]]) -> str:
    bits, ends = columns["bits"], zip(columns["below"], columns["above"], strict=True)
    most = bits.index(max(bits))
    beyond = number(sum(low < 0 or high > 1 for low, high in ends), "tensor")
    return (
        f"Most headroom has {columns['name'][most]}, {figure(bits[most])} bits. {beyond} had "
        "floats beyond the codes."
    )


_FLOOR = 0.5
"""The lower end of the bars; a logarithmic axis has no zero."""
_RULER = (0.28, 0.42)
"""Bottom and top of the ruler, below the bars."""
_MOST_CODES = 256
"""The most codes of a ruler, those of 8 bits; more would be narrower than a pixel."""
_VALUES, _CLIPPED, _CODE = MAIN, BAD, ENCODING


class _Mark(NamedTuple):
    """A rectangle; `number` is a count of values or a code."""

    what: str
    number: int
    left: float
    right: float
    bottom: float
    top: float
    colour: str
    edge: float = 0.0


def distributions_figure(distributions: Sequence[Distribution]) -> Figure | None:
    """Return the figure of the counts; None without any."""
    if not distributions:
        return None
    choices = {
        _name(distribution): columns_of(_Mark._fields, _marks(distribution))
        for distribution in distributions
    }
    tooltip = (("", "{what}: {number}"), ("from", "{left}"), ("to", "{right}"))
    up = "how many, by powers of ten"
    plot = Chart("value in float", up, tooltip=tooltip, log=(False, True))
    plot.draw("rects", **next(iter(choices.values())))
    table: Columns = {
        **{"layer": "layer", "tensor": "tensor", "SQNR dB": "sqnr_db"},
        "values": lambda distribution: sum(distribution.counts),
        **{**_CODED, "bits": "encoding.bitwidth", "clipped": "clipped"},
    }
    return Figure(
        "Values and codes",
        f"The float values of the {len(distributions)} tensors with the lowest SQNR; choose one. "
        "Upright lines are the ends of its encoding. Below, every other code of 8 bits is a "
        "stripe, as wide as a step; zoom in to tell them apart. A value more than half a step "
        "outside is clipped.",
        table_of(distributions, table),
        plot,
        (
            (_VALUES, "values"),
            (_CLIPPED, "values that are clipped"),
            (_CODE, "ends of the encoding"),
            (GREY, "codes"),
        ),
        choices=choices,
    )


def _name(distribution: Distribution) -> str:
    share = percent(distribution.clipped) if distribution.clipped else "none"
    return f"{distribution.tensor}: {figure(distribution.sqnr_db)} dB, {share} clipped"


def _marks(distribution: Distribution) -> Iterator[_Mark]:
    """Yield the marks of codes, of bins that are not empty, and of the bounds of the encoding."""
    encoding, counts = distribution.encoding, distribution.counts
    step, offset, codes = encoding.delta, encoding.offset, 1 << encoding.bitwidth
    for code in range(0, codes, 2) if codes <= _MOST_CODES else ():
        left = step * (code + offset - 0.5)
        yield _Mark("code", code, left, left + step, *_RULER, GREY)
    low, high = encoding.min - step / 2, encoding.max + step / 2
    for place, count in enumerate(counts):
        left = distribution.first_bin + distribution.bin_width * place
        right = left + distribution.bin_width
        kind, colour = ("clipped", _CLIPPED) if right < low or left > high else ("values", _VALUES)
        if count:
            yield _Mark(kind, count, left, right, _FLOOR, count, colour)
    for name, code, bound in (("min", 0, encoding.min), ("max", codes - 1, encoding.max)):
        yield _Mark(f"{name}, code", code, bound, bound, _RULER[0], max(counts), _CODE, 1.0)


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
    whose = f"{sqnr_label(study.output_sqnr_reference)} before a final softmax"
    return sensitivity_figure(study.sensitivity, whose)


def sensitivity_figure(ranked: Sensitivity, whose: str) -> Figure:
    """Return what quantising one layer at a time costs; `whose` says which SQNR that is."""
    rows = list(map(attrgetter("layer", "type", "only_db", "others_db"), ranked.layers))
    text = (
        f"{whose}, over {number(ranked.inputs, 'input')}, {db_text(ranked.all_db)} dB with all "
        "layers in integers: with only this layer in integers, the worst first, and with all but "
        "this one."
    )
    return Figure("Sensitivity", text, FigureTable(SENSITIVITY_HEADER, rows))


def findings_figure(findings: Iterable[Loss]) -> list[Figure]:
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
