"""The page of a decision: recommendation, all choices, what is ruled out, and commands.

A choice that equals float exactly has no finite SQNR. It is drawn above all others. Where files are
compared, the page has these instead.
"""

from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Any

from hexsim.reports.colours import BAD, in_turn
from hexsim.reports.decision import (
    CHANGES_HEADER,
    CHANGES_TITLE,
    NO_CHANGE,
    changes_rows,
    energy_text,
    interval,
    losses_of,
    out_groups,
    recommendation,
    recommended,
)
from hexsim.reports.pages.figures.chart import Chart, Columns, Figure, FigureTable, table_of
from hexsim.reports.pages.figures.timeline import timelines
from hexsim.reports.pages.figures.validation import sensitivity_figure
from hexsim.reports.pages.page import Heading, report
from hexsim.reports.text import number
from hexsim.results.decision import Choice, Decision, FileChoice, Limits, RuledOut
from hexsim.results.document import columns
from hexsim.texts.fields import fields
from hexsim.texts.figures import decibels, figure

_SHAPES = (
    *("circle", "square", "triangle", "diamond"),
    *("hex", "star", "inverted_triangle", "plus"),
)
"""Shapes stand for runtimes; colours stand for chips."""
_COLUMNS: Columns = {
    "rank": "rank",
    "mode": "mode",
    "chip": "chip",
    "runtime": "runtime",
    "cut": "cut",
    "ms": "ms",
    "from": lambda choice: choice.low_us and choice.low_us / 1e3,
    "to": lambda choice: choice.high_us and choice.high_us / 1e3,
    "peak MiB": "peak_mib",
    "mJ": "energy_mj",
    "points lost": "loss_points",
    "SQNR dB": "sqnr_db",
    "front": "in_front",
}
_BEST = {
    key: _COLUMNS[key] for key in ("mode", "chip", "cut", "ms", "peak MiB", "mJ", "points lost")
}
_TOOLTIP = (
    ("", "{name}"),
    ("total inference", "{x} ms"),
    ("SQNR", "{sqnr}"),
    ("peak", "{peak} MiB"),
    ("energy", "{mj} mJ"),
)
_ENDS = ("low_us", "high_us")
_BEHIND = "40"
"""The opacity of the fill of marks that are not on the front, in hexadecimal of 255."""


def decision_page(decision: Decision, command: str) -> str:
    """Return the page; timelines of the best choices share one time axis, if it can make them."""
    if decision.files:
        return _files_page(decision, command)
    figures = [choices_figure(decision)] if decision.choices else []
    if decision.choices or decision.ruled_out:
        figures.append(runtimes_summary(decision))
    if decision.choices and decision.timelines is not None:
        inferences = decision.timelines()
        places = dict.fromkeys(choice.place for choice in decision.choices)
        figures.append(timelines(inferences, missing=len(places) - len(inferences)))
    if losses := losses_of(decision):
        lost = [(", ".join(modes), sentence) for sentence, modes in losses.items()]
        text = "Values that the encodings of modes lose, those of the first choice first."
        figures.append(Figure("Lost for certain", text, FigureTable(("modes", "finding"), lost)))
    if decision.choices:
        rows = changes_rows(decision)
        text = "Each was tried on a copy, on the chip and runtime of the first choice."
        changes = FigureTable(CHANGES_HEADER, rows)
        figures.append(Figure(CHANGES_TITLE, text if rows else NO_CHANGE, changes))
    if decision.ruled_out:
        figures.append(_out_figure(decision.ruled_out))
    if decision.sensitivity is not None:
        ranked = decision.sensitivity
        whose = f"SQNR before a final softmax of choice {ranked.rank}"
        figures.append(sensitivity_figure(ranked, whose))
    if decision.commands:
        text = "They give the same figures again."
        lines = FigureTable(("command",), [(line,) for line in decision.commands])
        figures.append(Figure("Commands", text, lines))
    first, *reasons = recommendation(decision).splitlines()
    heading = Heading(
        f"A decision for {decision.network}",
        "; ".join((number(decision.inputs, "input"), *decision.notes)),
        command,
        _summary(decision.choices[0], decision) if decision.choices else (),
        (recommended(decision.choices[0]) + "." if decision.choices else first, *reasons),
    )
    return report(heading, figures)


def _summary(best: Choice, decision: Decision) -> tuple[tuple[str, str], ...]:
    """Return costs and accuracy of the first choice."""
    total = f"{figure(best.ms)} ms"
    if interval(best):
        total += f" ({interval(best)})"
    entries = [
        ("Total inference", total),
        ("Peak memory", f"{figure(best.peak_bytes / 2**20)} MiB"),
        ("Energy", energy_text(best)),
    ]
    if best.loss_points is not None:
        label = "Top-1 lost" if decision.labelled else "Agreement with float lost"
        entries.append((label, f"{figure(best.loss_points)} points"))
    entries.append(("SQNR", _sqnr(best)))
    return (*entries, ("Choices within the limits", f"{len(decision.choices)}"))


def _out_figure(ruled_out: Sequence[RuledOut]) -> Figure:
    """Return the reasons, those with the most choices first."""
    groups = sorted(out_groups(ruled_out), key=lambda group: -len(group.candidates))
    text = (
        f"{number(len(ruled_out), 'choice')} that a runtime does not take or a limit does not "
        "allow, by reason. Of a limit there is the figure nearest to it, and the furthest."
    )
    table: Columns = {
        "choices": lambda group: len(group.candidates),
        **{"reason": "reason", "nearest": "nearest", "furthest": "furthest"},
        "modes": lambda group: ", ".join(group.modes),
        "where": lambda group: ", ".join(group.places),
    }
    return Figure("Ruled out", text, table_of(groups, table))


def _files_page(decision: Decision, command: str) -> str:
    """Return a page with the table of the files on the runtimes."""
    declared = fields(FileChoice)
    shown = [declared[name] for name in columns(FileChoice)]
    rows = [
        tuple(field.text(getattr(row, field.name)) for field in shown) for row in decision.files
    ]
    table = FigureTable(tuple(field.heading for field in shown), rows)
    text = "Each file on each runtime, as the runtime loads it; outputs are compared with the "
    source = "; ".join((number(decision.inputs, "input"), *decision.notes))
    heading = Heading(f"Files of {decision.network}", source, command)
    return report(heading, [Figure("Files", f"{text}{decision.reference}.", table)])


def choices_figure(decision: Decision) -> Figure:
    """Return the figure of the choices: a mark for each."""
    choices = decision.choices
    chips = list(dict.fromkeys(choice.chip for choice in choices))
    runtimes = list(dict.fromkeys(choice.runtime for choice in choices))
    colours = in_turn(chips)
    shapes = {runtime: _SHAPES[n % len(_SHAPES)] for n, runtime in enumerate(runtimes)}
    height = _above(choices)
    up = "dB, SQNR against float"
    plot = Chart("ms, total inference", up, 460, tooltip=_TOOLTIP, log=(True, False))
    _intervals(plot, choices, height)
    for runtime, shape in shapes.items():
        chosen = [choice for choice in choices if choice.runtime == runtime]
        plot.draw("points", shape=shape, **_marks(chosen, colours, height))
    _limits(plot, decision.limits)
    _labels(plot, choices, height)
    return Figure(
        "Choices",
        "Every choice within the limits. Colours are chips, shapes are runtimes. Large filled "
        "marks are in front: no other is at least as good in time, memory, energy and accuracy. "
        "Lines are intervals of time, for those that have one.",
        table_of(choices, _COLUMNS),
        plot,
        (
            *((colour, chip) for chip, colour in colours.items()),
            *(("", runtime, shape) for runtime, shape in shapes.items()),
        ),
    )


def runtimes_summary(decision: Decision) -> Figure:
    """Return a line for each runtime: its best choice, and the counts of choices in and out."""
    choices, ruled_out = decision.choices, decision.ruled_out
    best: dict[str, Choice] = {}
    inside = Counter[str]()
    for choice in choices:
        best.setdefault(choice.runtime, choice)
        inside[choice.runtime] += 1
    missing = dict.fromkeys(runtime_of(out) for out in ruled_out if runtime_of(out) not in best)
    outside = Counter(map(runtime_of, ruled_out))
    cells = dict(zip(best, table_of(best.values(), _BEST).rows, strict=True))
    rows = [
        (
            runtime,
            *cells.get(runtime, [None] * len(_BEST)),
            decibels(best[runtime].sqnr_db) if runtime in best else "all are out",
            inside[runtime],
            outside[runtime],
        )
        for runtime in (*best, *missing)
    ]
    header = ("runtime", *_BEST, "SQNR dB", "within limits", "ruled out")
    text = "The best choice on each runtime, in the order of the ranking."
    return Figure("Best of each runtime", text, FigureTable(header, rows))


def runtime_of(out: RuledOut) -> str:
    """Return the runtime of a choice that is ruled out, without its cut."""
    return out.where.partition(" (")[0]


def _above(choices: Sequence[Choice]) -> float:
    """Return the height at which choices that equal float are drawn."""
    finite = [choice.sqnr_db for choice in choices if choice.sqnr_db is not None]
    return max(finite) + max(4.0, 0.15 * (max(finite) - min(finite))) if finite else 0.0


def _height(choice: Choice, above: float) -> float:
    return above if choice.sqnr_db is None else float(choice.sqnr_db)


def _sqnr(choice: Choice) -> str:
    return "exactly as float" if choice.sqnr_db is None else f"{figure(choice.sqnr_db)} dB"


def _marks(
    choices: Sequence[Choice], colours: Mapping[str, str], above: float
) -> dict[str, list[Any]]:
    fills = [colours[choice.chip] for choice in choices]
    in_front = [choice.in_front for choice in choices]
    return {
        "name": [f"{choice.mode} on {choice.chip} {choice.runtime}" for choice in choices],
        "x": [choice.ms for choice in choices],
        "y": [_height(choice, above) for choice in choices],
        "sqnr": [_sqnr(choice) for choice in choices],
        "peak": [choice.peak_mib for choice in choices],
        "mj": [choice.energy_mj for choice in choices],
        "size": [15 if is_front else 9 for is_front in in_front],
        "colour": fills,
        "fill": [
            colour if is_front else colour + _BEHIND
            for colour, is_front in zip(fills, in_front, strict=True)
        ],
    }


def _intervals(plot: Chart, choices: Sequence[Choice], above: float) -> None:
    drawn = [choice for choice in choices if choice.low_us is not None]
    ends = [[(getattr(choice, key) or 0.0) / 1e3 for choice in drawn] for key in _ENDS]
    up = [_height(choice, above) for choice in drawn]
    plot.draw("segments", x0=ends[0], x1=ends[1], y0=up, y1=up, colour="", width=1.5)


def _limits(plot: Chart, limits: Limits) -> None:
    """Draw the limits on time and SQNR."""
    for key, axis in (("max_ms", "x"), ("min_db", "y")):
        if (limit := getattr(limits, key)) is not None:
            plot.draw("rules", **{axis: limit}, colour=BAD)


def _labels(plot: Chart, choices: Sequence[Choice], above: float) -> None:
    """Label the first choice, and those that equal float."""
    first, times = choices[0], [choice.total_inference_us for choice in choices]
    is_left = first.total_inference_us**2 <= min(times) * max(times)
    side = {"align": "left", "dx": 6} if is_left else {"align": "right", "dx": -6}
    place = {"x": first.ms, "y": _height(first, above), "dy": -15}
    plot.draw("texts", text="first choice", colour="", **place, **side)
    if any(choice.sqnr_db is None for choice in choices):
        plot.draw("texts", y=above, text="exactly as float", colour="", dy=-12)
