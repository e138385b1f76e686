"""Charts, bars of layers, and the type of figures; this file alone imports Bokeh.

A figure of a page is a chart or a drawing, a sentence on what it shows, and a table of it. A chart
is as wide as the page. The page sets the colours of its axes for a light or dark system and has the
buttons and keys that move it. A chart contains no code, so that the policy of a page can forbid all
scripts but its own.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from importlib import import_module
from itertools import accumulate
from pathlib import Path
from types import ModuleType
from typing import Any, NamedTuple

from hexsim.reports.colours import ENGINES, MEMORIES
from hexsim.reports.text import number
from hexsim.texts.extras import missing

ALPHA = "alpha"
"""The column that the page changes to fade marks that do not match a search."""
_POWERS = range(-6, 13)
"""Exponents of the ticks, from which the page later chooses those that fit."""

_IDS = frozenset(("id", "root_id"))
"""Keys under which Bokeh's data contain ids of models."""


def load_bokeh() -> ModuleType:
    """Return the module bokeh; HexsimError if it is not installed."""
    try:
        for part in ("plotting", "models", "embed"):
            import_module(f"bokeh.{part}")
        return import_module("bokeh")
    except ImportError:
        needs = "pages with figures need bokeh, which is not installed"
        raise missing(needs, "report") from None


def library() -> str:
    """Return the script that draws in a browser, from the installed package."""
    folder = Path(str(load_bokeh().__file__)).parent
    return (folder / "server/static/js/bokeh.min.js").read_text(encoding="utf-8")


def item(chart: Any) -> Any:
    """Return a chart as data for that script, the same in every process."""
    from bokeh.embed import json_item

    return _renumbered(json_item(chart), {})


def _renumbered(value: Any, ids: dict[str, str]) -> Any:
    """Return the value with ids numbered in order; Bokeh's own depend on the order of its sets."""
    if isinstance(value, list):
        return [_renumbered(item, ids) for item in value]
    if not isinstance(value, dict):
        return value
    return {
        key: ids.setdefault(item, f"p{len(ids)}")
        if key in _IDS and isinstance(item, str)
        else _renumbered(item, ids)
        for key, item in value.items()
    }


def source(columns: Mapping[str, Sequence[Any]]) -> Any:
    """Return columns of equal length as data of marks; the page finds layers by `name`."""
    from bokeh.models import ColumnDataSource

    length = len(next(iter(columns.values())))
    return ColumnDataSource({**columns, ALPHA: [1.0] * length})


def chart(
    across: str,
    up: str,
    *,
    height: int = 320,
    tooltip: Sequence[tuple[str, str]] = (),
    zoom: str = "box_zoom",
    **options: Any,
) -> Any:
    """Return an empty chart with labels of both axes; `tooltip` is shown for a mark pointed at.

    `zoom` is the tool that a drag uses, `options` are those of Bokeh's figure.
    """
    from bokeh.models import HoverTool
    from bokeh.plotting import figure

    plot = figure(
        height=height,
        sizing_mode="stretch_width",
        tools=f"{zoom},reset",
        active_drag=zoom,
        toolbar_location=None,
        x_axis_label=across,
        y_axis_label=up,
        min_border_right=12,
        background_fill_alpha=0.0,
        border_fill_alpha=0.0,
        **options,
    )
    plot.axis.minor_tick_line_color = None
    _plain_numbers(plot)
    if tooltip:
        plot.add_tools(HoverTool(tooltips=list(tooltip), point_policy="follow_mouse"))
    return plot


def _plain_numbers(plot: Any) -> None:
    """Write all ticks as plain numbers; the page chooses those that fit."""
    from bokeh.models import BasicTickFormatter, FixedTicker, LogAxis

    for axis in plot.axis:
        if isinstance(axis, LogAxis):
            axis.ticker = FixedTicker(ticks=[10.0**power for power in _POWERS])
        axis.formatter = BasicTickFormatter(use_scientific=False)


def inked(lines: Any) -> None:
    """Give lines the colour of the page's text, which is seen upon and beside every bar."""
    lines.glyph.tags = ["ink"]


def rectangles(plot: Any, columns: Mapping[str, Sequence[Any]], **style: Any) -> Any:
    """Draw a rectangle per row of left, right, bottom, top and colour; return their data."""
    marks = source(columns)
    looks: dict[str, Any] = {key: key for key in ("left", "right", "top", "bottom")}
    looks |= {"fill_color": "colour", "line_color": None, "fill_alpha": ALPHA, **style}
    plot.quad(source=marks, **looks)
    return marks


def name_rows(plot: Any, names: Sequence[str]) -> None:
    """Write names on the left, one per row; row 0 is at height 0, and the others below it."""
    _named(plot.yaxis[0], plot.ygrid, names, -1)


def name_columns(plot: Any, names: Sequence[str]) -> None:
    """Write names below, one per column; column 0 is at 0, and the others on its right."""
    from bokeh.models import Range1d

    _named(plot.xaxis[0], plot.xgrid, names, 1)
    plot.x_range = Range1d(-0.7, len(names) - 0.3)
    plot.xaxis.major_label_orientation = "vertical"


def _named(axis: Any, grid: Any, names: Sequence[str], direction: int) -> None:
    """Leave names to the page, which writes as many and as much of each as there is room for."""
    from bokeh.models import FixedTicker

    axis.ticker = FixedTicker(ticks=[])
    axis.tags = [{"names": list(names), "direction": direction}]
    grid.grid_line_color = None


Cell = str | int | float | None


@dataclass(frozen=True)
class FigureTable:
    """Rows under a header, in their initial order."""

    header: tuple[str, ...]
    rows: Sequence[Sequence[Cell]]


def table_of(rows: Sequence[Mapping[str, Any]], header: Mapping[str, str]) -> FigureTable:
    """Return the table of rows; `header` has the key of each column."""
    cells = [tuple(row[key] for key in header.values()) for row in rows]
    return FigureTable(tuple(header), cells)


@dataclass(frozen=True)
class Paint:
    """Colours of the boxes of a drawing, and the second line of each; `legend` explains them."""

    fills: tuple[str, ...]
    notes: tuple[str, ...]
    legend: tuple[tuple[str, str], ...]


@dataclass(frozen=True)
class Figure:
    """One figure of a page.

    `legend` are pairs of colour and meaning, or triples with the name of a shape that has the
    meaning. `chart` is an object of the library, `drawing` an SVG document with escaped names; a
    figure has at most one of them besides its table. `choices` are alternative data of the chart,
    by name, from which a reader chooses; it first shows the first. `paints` are likewise those of
    the boxes of a drawing.
    """

    title: str
    text: str
    table: FigureTable
    chart: Any = None
    legend: tuple[tuple[str, ...], ...] = ()
    drawing: str = ""
    choices: dict[str, Any] = field(default_factory=dict)
    paints: dict[str, Paint] = field(default_factory=dict)


BAR = 0.8
"""The height of a bar, as a share of the space of a layer."""
MOST = 24
"""The number of layers with a bar of their own."""
_VISIBLE = 0.002
"""The share of the longest bar that is a pixel or two."""
_BORDERS = 80
"""Height in px of the axis and its title."""


class BarPart(NamedTuple):
    """A rectangle: the part `what` of a layer has `amount` of its total, `whole`."""

    name: str
    what: str
    amount: float
    whole: float
    left: float
    right: float
    bottom: float
    top: float
    colour: str


Amounts = Mapping[str, float]


def longest(layers: Iterable[tuple[str, Amounts]]) -> list[tuple[str, Amounts]]:
    """Return the layers with the largest sums, in that order."""
    return sorted(layers, key=lambda layer: -sum(layer[1].values()))[:MOST]


def not_drawn(count: int) -> str:
    """Return a sentence on the layers of `count` that have no bar."""
    missing = count - MOST
    return f" Not drawn: {number(missing, 'shorter one')}." if missing > 0 else ""


def stacked(row: int, name: str, amounts: Amounts, colours: Mapping[str, str]) -> list[BarPart]:
    """Return the parts of the bar of a row, from left to right."""
    whole = sum(amounts.values())
    ends = accumulate(amounts.values())
    bottom, top = -row - BAR / 2, -row + BAR / 2
    return [
        BarPart(name, what, amount, whole, end - amount, end, bottom, top, colours[what])
        for (what, amount), end in zip(amounts.items(), ends, strict=True)
        if amount > 0
    ]


def layer_bars(
    across: str,
    names: Sequence[str],
    parts: Sequence[BarPart],
    tooltip: Sequence[tuple[str, str]],
    *,
    row_height: int = 20,
) -> Any:
    """Return a chart of bars; `across` is its quantity, `tooltip` is for the part pointed at."""
    plot = chart(
        across,
        "",
        height=row_height * len(names) + _BORDERS,
        tooltip=(("", "@name"), *tooltip),
        y_range=(0.5 - max(1, len(names)), 0.5),
    )
    columns = {key: [getattr(part, key) for part in parts] for key in BarPart._fields}
    rectangles(plot, columns)
    name_rows(plot, names)
    if min((part.left for part in parts), default=0.0) == 0.0:
        plot.x_range.start = 0
    return plot


def legend(parts: Sequence[BarPart], colours: Mapping[str, str]) -> tuple[tuple[str, str], ...]:
    """Return the colours of the parts that a reader can see, in the order of `colours`."""
    least = _VISIBLE * max((part.right for part in parts), default=0.0)
    seen = {part.what for part in parts if part.right - part.left >= least}
    return tuple((colour, label(what)) for what, colour in colours.items() if what in seen)


def label(what: str) -> str:
    """Return the name of a bound or part of an energy, memories and engines in capitals."""
    return what.upper() if what in MEMORIES or what in ENGINES else what


_NAMED = 5
_COUNTS = ("no", "one", "two", "three", "four", "five")


def most_of(amounts: Mapping[str, float], total: float, whole: str, *, verb: str = "take") -> str:
    """Return `These five layers take 61 % of the inference: a, b, c, d, e.`"""
    largest = sorted(amounts, key=lambda name: -amounts[name])[:_NAMED]
    if not largest or not total:
        return ""
    share = f"{sum(amounts[name] for name in largest) / total:.0%} {whole}"
    if len(largest) == 1:
        return f"Layer {largest[0]} {verb}s {share}."
    return f"These {_COUNTS[len(largest)]} layers {verb} {share}: {', '.join(largest)}."
