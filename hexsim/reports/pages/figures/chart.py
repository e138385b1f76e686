"""Charts as data, bars of layers, and the type of figures.

A figure of a page is a chart or a drawing, a sentence on what it shows, and a table of it. A chart
is a frame with axes and the marks in it. It says what is drawn; `chart.js` in the page draws it, as
wide as the page and in its colours, and has the buttons and keys that move it.
"""

from collections.abc import Callable, Iterable, Mapping, Sequence
from itertools import accumulate
from operator import attrgetter
from typing import Any, Literal, NamedTuple

from hexsim.records import dataclass, field
from hexsim.reports.colours import ENGINES, MEMORIES
from hexsim.reports.text import number, short_names
from hexsim.results.costs import LayerCost, OverheadCost

Kind = Literal["rects", "spans", "points", "line", "lines", "segments", "rules", "texts"]
"""What a set of marks is drawn as; chart.js says which columns each has."""
Ends = tuple[float | None, float | None]
"""The ends of an axis; None for an end that the marks decide."""


@dataclass
class Chart:
    """A frame, what it says of a mark that is pointed at, and the marks in it.

    `rows` are names on the left, one per row: row 0 is at height 0 and the others are below it.
    `columns` are names below, one per column, from 0 on. `tooltip` are pairs of a label and a
    text in which `{key}` stands for a column of the mark, `{key%}` for a share in percent. `log`
    says of both axes whether they are of powers, `ticks` whether they have numbers; heights are
    in px.
    """

    across: str
    up: str = ""
    height: int = 320
    row_height: int = 20
    tooltip: Sequence[tuple[str, str]] = ()
    log: tuple[bool, bool] = (False, False)
    ticks: tuple[bool, bool] = (True, True)
    x: Ends = (None, None)
    y: Ends = (None, None)
    rows: Sequence[str] = ()
    columns: Sequence[str] = ()
    marks: list[dict[str, Any]] = field(default_factory=list)

    def draw(self, kind: Kind, **columns: Any) -> None:
        """Add marks: a column has a value for each, or one for all.

        Marks with a `name` are those of a layer, which the page finds. A colour of "" is that of
        the page's text.
        """
        self.marks.append({"kind": kind, **columns})

    def begin_bars(self, longest: Iterable[float]) -> None:
        """Begin bars at zero, or make the axis one of powers where that would hide some.

        `longest` has the longest bar of each kind that is to be seen beside the others.
        """
        lengths = [length for length in longest if length > 0]
        if lengths and min(lengths) < _READABLE * max(lengths):
            self.log, self.x = (True, False), (None, None)
            self.across = f"{self.across}{self.across and ', '}logarithmic scale"
        else:
            self.x = (0.0, None)


def columns_of(keys: Sequence[str], marks: Iterable[Sequence[Any]]) -> dict[str, list[Any]]:
    """Return marks, each of which has a value for every key, as columns by key."""
    rows = list(marks)
    return {key: [row[at] for row in rows] for at, key in enumerate(keys)}


_READABLE = 0.1
"""The share of the longest bar below which another is hard to read."""

Cell = str | int | float | None


@dataclass(frozen=True)
class FigureTable:
    """Rows under a header, in their initial order."""

    header: tuple[str, ...]
    rows: Sequence[Sequence[Cell]]


Columns = Mapping[str, str | Callable[[Any], Cell]]
"""Attributes of an object, or functions of it, by heading."""


def table_of(rows: Iterable[Any], columns: Columns) -> FigureTable:
    """Return the table of objects."""
    of = [attrgetter(cell) if isinstance(cell, str) else cell for cell in columns.values()]
    return FigureTable(tuple(columns), [tuple(cell(row) for cell in of) for row in rows])


def part_name(part: LayerCost | OverheadCost) -> str:
    """Return the name of a part of an inference; that of an overhead in brackets."""
    return part.name if isinstance(part, LayerCost) else f"({part.name})"


def of_layer(key: str, unit: float = 1.0, *, otherwise: Cell = None) -> Callable[[Any], Cell]:
    """Return what a layer has as `key`, numbers in a unit; an overhead has `otherwise`."""

    def cell(part: LayerCost | OverheadCost) -> Cell:
        value: Cell = getattr(part, key, otherwise)
        return value / unit if unit != 1.0 and isinstance(value, int | float) else value

    return cell


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
    meaning. `drawing` is an SVG document with escaped names; a figure has at most a chart or one
    of them besides its table. `choices` are alternative columns of the first marks of the chart,
    by name, from which a reader chooses; it first shows the first. `paints` are likewise those of
    the boxes of a drawing.
    """

    title: str
    text: str
    table: FigureTable
    chart: Chart | None = None
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
) -> Chart:
    """Return a chart of bars; `across` is its quantity, `tooltip` is for the part pointed at."""
    lines = (("", "{name}"), *tooltip)
    start = 0.0 if min((part.left for part in parts), default=0.0) == 0.0 else None
    made = Chart(across, row_height=row_height, tooltip=lines, rows=list(names), x=(start, None))
    made.draw("rects", **columns_of(BarPart._fields, parts))
    return made


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
    names = short_names(largest)
    if len(largest) == 1:
        return f"Layer {names[0]} {verb}s {share}."
    return f"These {_COUNTS[len(largest)]} layers {verb} {share}: {', '.join(names)}."
