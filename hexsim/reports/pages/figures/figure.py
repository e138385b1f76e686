"""The type of figures: a chart or a drawing, a sentence on what it shows, and a table of it."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

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
