"""The choices of a decision: time beside accuracy, what stands in front, and each runtime's best.

A choice that answers exactly as float has no noise to divide by. It stands above all others.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Any

from hexsim.reports.pages.figures.chart import GREY, PALETTE, chart, source
from hexsim.reports.pages.figures.figure import Cell, Figure, FigureTable

_SHAPES = ("circle", "square", "triangle", "diamond", "hex", "star")
"""A shape for each runtime; a colour is a chip's."""
_COLUMNS = {
    "rank": "rank",
    "mode": "mode",
    "chip": "chip",
    "runtime": "runtime",
    "cut": "cut",
    "total_inference_us": "ms",
    "low_us": "from",
    "high_us": "to",
    "peak_bytes": "peak MiB",
    "energy_mj": "mJ",
    "loss_points": "points lost",
    "sqnr_db": "SQNR dB",
    "in_front": "front",
}
_BEST = ("mode", "chip", "cut", "total_inference_us", "peak_bytes", "energy_mj", "loss_points")
_SCALE = {"total_inference_us": 1e-3, "low_us": 1e-3, "high_us": 1e-3, "peak_bytes": 2.0**-20}
_TOLD = (
    ("", "@name"),
    ("total inference", "@ms{0.000} ms"),
    ("SQNR", "@sqnr"),
    ("peak", "@peak{0.0} MiB"),
    ("energy", "@mj{0.000} mJ"),
)
_BEHIND = "40"
"""How much colour fills a mark that is not in front, in hexadecimal of 255."""


def choices_figure(facts: Mapping[str, Any]) -> Figure:
    """Return the figure of what `hexsim decide --json` has: a mark for each choice."""
    choices = facts["choices"]
    chips = list(dict.fromkeys(choice["chip"] for choice in choices))
    runtimes = list(dict.fromkeys(choice["runtime"] for choice in choices))
    colours = {chip: PALETTE[at % len(PALETTE)] for at, chip in enumerate(chips)}
    shapes = {runtime: _SHAPES[at % len(_SHAPES)] for at, runtime in enumerate(runtimes)}
    height = _above(choices)
    made = chart(
        "ms, total inference",
        "dB, SQNR against float",
        height=460,
        told=_TOLD,
        x_axis_type="log",
    )
    _intervals(made, choices, height)
    for runtime, shape in shapes.items():
        placed = [choice for choice in choices if choice["runtime"] == runtime]
        marks = source(_marks(placed, colours, height))
        look = {"line_color": "colour", "fill_color": "fill", "line_width": 1.5}
        made.scatter("ms", "db", size="size", marker=shape, source=marks, **look)
    _limits(made, facts["limits"])
    _words(made, choices, height)
    return Figure(
        "Choices",
        "Every choice within the limits. Colours are chips, shapes are runtimes. Large filled "
        "marks are in front: no other is at least as good in time, memory, energy and accuracy. "
        "Grey lines are intervals of time, for those that have one.",
        _table(choices),
        made,
        (*((colour, chip) for chip, colour in colours.items()), *_meaning(shapes)),
    )


def runtimes_summary(facts: Mapping[str, Any]) -> Figure:
    """Return a line for each runtime: its best choice, and how many are in and out."""
    choices, out = facts["choices"], facts["ruled_out"]
    best: dict[str, Mapping[str, Any]] = {}
    for choice in choices:
        best.setdefault(choice["runtime"], choice)
    missing = dict.fromkeys(runtime_of(one) for one in out if runtime_of(one) not in best)
    inside = Counter(choice["runtime"] for choice in choices)
    outside = Counter(map(runtime_of, out))
    rows = [
        (
            runtime,
            *([None] * len(_BEST) if runtime not in best else _row(best[runtime], _BEST)),
            _sqnr(best[runtime]) if runtime in best else "all are out",
            inside[runtime],
            outside[runtime],
        )
        for runtime in (*best, *missing)
    ]
    header = ("runtime", *(_COLUMNS[key] for key in _BEST), "SQNR", "within limits", "ruled out")
    text = "The best choice on each runtime, in the order of the ranking."
    return Figure("Best of each runtime", text, FigureTable(header, rows))


def runtime_of(out: Mapping[str, Any]) -> str:
    """Return the runtime of what is ruled out, without its cut."""
    return str(out["where"]).partition(" (")[0]


def _meaning(shapes: Mapping[str, str]) -> list[tuple[str, ...]]:
    return [("", runtime, shape) for runtime, shape in shapes.items()]


def _above(choices: Sequence[Mapping[str, Any]]) -> float:
    """Where a choice without noise stands."""
    known = [choice["sqnr_db"] for choice in choices if choice["sqnr_db"] is not None]
    return max(known) + max(4.0, 0.15 * (max(known) - min(known))) if known else 0.0


def _place(one: Mapping[str, Any], above: float) -> float:
    return above if one["sqnr_db"] is None else float(one["sqnr_db"])


def _sqnr(one: Mapping[str, Any]) -> str:
    return "exactly as float" if one["sqnr_db"] is None else f"{one['sqnr_db']:.1f} dB"


def _marks(
    placed: Sequence[Mapping[str, Any]], colours: Mapping[str, str], above: float
) -> dict[str, list[Any]]:
    mine = [colours[one["chip"]] for one in placed]
    front = [one["in_front"] for one in placed]
    return {
        "name": [f"{one['mode']} on {one['chip']} {one['runtime']}" for one in placed],
        "ms": [one["total_inference_us"] / 1e3 for one in placed],
        "db": [_place(one, above) for one in placed],
        "sqnr": [_sqnr(one) for one in placed],
        "peak": [one["peak_bytes"] / 2**20 for one in placed],
        "mj": [one["energy_mj"] for one in placed],
        "size": [15 if ahead else 9 for ahead in front],
        "colour": mine,
        "fill": [
            colour if ahead else colour + _BEHIND for colour, ahead in zip(mine, front, strict=True)
        ],
    }


def _intervals(made: Any, choices: Sequence[Mapping[str, Any]], above: float) -> None:
    drawn = [choice for choice in choices if choice["low_us"] is not None]
    if drawn:
        across = [[one["low_us"] / 1e3, one["high_us"] / 1e3] for one in drawn]
        up = [[_place(one, above)] * 2 for one in drawn]
        made.multi_line(across, up, line_color=GREY, line_width=2, line_alpha=0.7)


def _limits(made: Any, limits: Mapping[str, Any]) -> None:
    """Draw what is allowed, where an axis has it."""
    from bokeh.models import Span

    for key, dimension in (("max_ms", "height"), ("min_db", "width")):
        if limits[key] is not None:
            look = {"line_color": PALETTE[4], "line_dash": "dashed"}
            made.add_layout(Span(location=limits[key], dimension=dimension, **look))


def _words(made: Any, choices: Sequence[Mapping[str, Any]], above: float) -> None:
    """Name the first choice, and those that have no noise."""
    from bokeh.models import ColumnDataSource, LabelSet

    first, times = choices[0], [choice["total_inference_us"] for choice in choices]
    is_left = first["total_inference_us"] ** 2 <= min(times) * max(times)
    look: dict[str, Any] = {"text_font_size": "12px", "text_font_style": "bold", "y_offset": 10}
    look |= {"x_offset": 6} if is_left else {"x_offset": -6, "text_align": "right"}
    place = {"x": [first["total_inference_us"] / 1e3], "y": [_place(first, above)]}
    columns = {**place, "word": ["first choice"]}
    made.add_layout(LabelSet(x="x", y="y", text="word", source=ColumnDataSource(columns), **look))
    if any(choice["sqnr_db"] is None for choice in choices):
        named = ColumnDataSource({"y": [above], "word": ["exactly as float"]})
        look = {"text_font_size": "11px", "text_baseline": "top", "y_offset": -8}
        made.add_layout(LabelSet(x=4, x_units="screen", y="y", text="word", source=named, **look))


def _table(choices: Sequence[Mapping[str, Any]]) -> FigureTable:
    return FigureTable(
        tuple(_COLUMNS.values()), [_row(choice, tuple(_COLUMNS)) for choice in choices]
    )


def _row(one: Mapping[str, Any], keys: Sequence[str]) -> tuple[Cell, ...]:
    return tuple(
        one[key] if one[key] is None or key not in _SCALE else one[key] * _SCALE[key]
        for key in keys
    )
