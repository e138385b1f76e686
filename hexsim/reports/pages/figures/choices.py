"""The choices of a decision: time and accuracy of each, the front, and the best of each runtime.

A choice that equals float exactly has no finite SQNR. It is drawn above all others.
"""

from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Any

from hexsim.reports.colours import BAD, in_turn
from hexsim.reports.pages.figures.chart import chart, inked, source
from hexsim.reports.pages.figures.figure import Cell, Figure, FigureTable
from hexsim.texts.figures import figure

_SHAPES = (
    *("circle", "square", "triangle", "diamond"),
    *("hex", "star", "inverted_triangle", "plus"),
)
"""Shapes stand for runtimes; colours stand for chips."""
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
_TOOLTIP = (
    ("", "@name"),
    ("total inference", "@ms{0.000} ms"),
    ("SQNR", "@sqnr"),
    ("peak", "@peak{0.0} MiB"),
    ("energy", "@mj{0.000} mJ"),
)
_BEHIND = "40"
"""The opacity of the fill of marks that are not on the front, in hexadecimal of 255."""


def choices_figure(facts: Mapping[str, Any]) -> Figure:
    """Return the figure of the data of `hexsim decide`: a mark for each choice."""
    choices = facts["choices"]
    chips = list(dict.fromkeys(choice["chip"] for choice in choices))
    runtimes = list(dict.fromkeys(choice["runtime"] for choice in choices))
    colours = in_turn(chips)
    shapes = {runtime: _SHAPES[n % len(_SHAPES)] for n, runtime in enumerate(runtimes)}
    height = _above(choices)
    plot = chart(
        "ms, total inference",
        "dB, SQNR against float",
        height=460,
        tooltip=_TOOLTIP,
        x_axis_type="log",
    )
    _intervals(plot, choices, height)
    for runtime, shape in shapes.items():
        chosen = [choice for choice in choices if choice["runtime"] == runtime]
        marks = source(_marks(chosen, colours, height))
        style = {"line_color": "colour", "fill_color": "fill", "line_width": 1.5}
        plot.scatter("ms", "db", size="size", marker=shape, source=marks, **style)
    _limits(plot, facts["limits"])
    _labels(plot, choices, height)
    return Figure(
        "Choices",
        "Every choice within the limits. Colours are chips, shapes are runtimes. Large filled "
        "marks are in front: no other is at least as good in time, memory, energy and accuracy. "
        "Lines are intervals of time, for those that have one.",
        _table(choices),
        plot,
        (
            *((colour, chip) for chip, colour in colours.items()),
            *(("", runtime, shape) for runtime, shape in shapes.items()),
        ),
    )


def runtimes_summary(facts: Mapping[str, Any]) -> Figure:
    """Return a line for each runtime: its best choice, and the counts of choices in and out."""
    choices, ruled_out = facts["choices"], facts["ruled_out"]
    best: dict[str, Mapping[str, Any]] = {}
    for choice in choices:
        best.setdefault(choice["runtime"], choice)
    missing = dict.fromkeys(
        runtime_of(choice) for choice in ruled_out if runtime_of(choice) not in best
    )
    inside = Counter(choice["runtime"] for choice in choices)
    outside = Counter(map(runtime_of, ruled_out))
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


def runtime_of(choice: Mapping[str, Any]) -> str:
    """Return the runtime of a choice that is ruled out, without its cut."""
    return str(choice["where"]).partition(" (")[0]


def _above(choices: Sequence[Mapping[str, Any]]) -> float:
    """Return the height at which choices that equal float are drawn."""
    finite = [choice["sqnr_db"] for choice in choices if choice["sqnr_db"] is not None]
    return max(finite) + max(4.0, 0.15 * (max(finite) - min(finite))) if finite else 0.0


def _height(choice: Mapping[str, Any], above: float) -> float:
    return above if choice["sqnr_db"] is None else float(choice["sqnr_db"])


def _sqnr(choice: Mapping[str, Any]) -> str:
    return "exactly as float" if choice["sqnr_db"] is None else f"{figure(choice['sqnr_db'])} dB"


def _marks(
    choices: Sequence[Mapping[str, Any]], colours: Mapping[str, str], above: float
) -> dict[str, list[Any]]:
    fills = [colours[choice["chip"]] for choice in choices]
    in_front = [choice["in_front"] for choice in choices]
    return {
        "name": [f"{choice['mode']} on {choice['chip']} {choice['runtime']}" for choice in choices],
        "ms": [choice["total_inference_us"] / 1e3 for choice in choices],
        "db": [_height(choice, above) for choice in choices],
        "sqnr": [_sqnr(choice) for choice in choices],
        "peak": [choice["peak_bytes"] / 2**20 for choice in choices],
        "mj": [choice["energy_mj"] for choice in choices],
        "size": [15 if is_front else 9 for is_front in in_front],
        "colour": fills,
        "fill": [
            colour if is_front else colour + _BEHIND
            for colour, is_front in zip(fills, in_front, strict=True)
        ],
    }


def _intervals(plot: Any, choices: Sequence[Mapping[str, Any]], above: float) -> None:
    drawn = [choice for choice in choices if choice["low_us"] is not None]
    if drawn:
        across = [[choice["low_us"] / 1e3, choice["high_us"] / 1e3] for choice in drawn]
        up = [[_height(choice, above)] * 2 for choice in drawn]
        inked(plot.multi_line(across, up, line_width=1.5))


def _limits(plot: Any, limits: Mapping[str, Any]) -> None:
    """Draw the limits on time and SQNR."""
    from bokeh.models import Span

    for key, dimension in (("max_ms", "height"), ("min_db", "width")):
        if limits[key] is not None:
            style = {"line_color": BAD, "line_dash": "dashed"}
            plot.add_layout(Span(location=limits[key], dimension=dimension, **style))


def _labels(plot: Any, choices: Sequence[Mapping[str, Any]], above: float) -> None:
    """Label the first choice, and those that equal float."""
    from bokeh.models import ColumnDataSource, LabelSet

    first, times = choices[0], [choice["total_inference_us"] for choice in choices]
    is_left = first["total_inference_us"] ** 2 <= min(times) * max(times)
    style: dict[str, Any] = {"text_font_size": "12px", "text_font_style": "bold", "y_offset": 10}
    style |= {"x_offset": 6} if is_left else {"x_offset": -6, "text_align": "right"}
    place = {"x": [first["total_inference_us"] / 1e3], "y": [_height(first, above)]}
    columns = {**place, "word": ["first choice"]}
    plot.add_layout(LabelSet(x="x", y="y", text="word", source=ColumnDataSource(columns), **style))
    if any(choice["sqnr_db"] is None for choice in choices):
        exact = ColumnDataSource({"y": [above], "word": ["exactly as float"]})
        style = {"text_font_size": "11px", "text_baseline": "top", "y_offset": -8}
        plot.add_layout(LabelSet(x=4, x_units="screen", y="y", text="word", source=exact, **style))


def _table(choices: Sequence[Mapping[str, Any]]) -> FigureTable:
    return FigureTable(
        tuple(_COLUMNS.values()), [_row(choice, tuple(_COLUMNS)) for choice in choices]
    )


def _row(choice: Mapping[str, Any], keys: Sequence[str]) -> tuple[Cell, ...]:
    return tuple(
        choice[key] if choice[key] is None or key not in _SCALE else choice[key] * _SCALE[key]
        for key in keys
    )
