"""What a figure is: a chart or a drawing, what it shows in a sentence, and a table of it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

Cell = str | int | float | None


@dataclass(frozen=True)
class FigureTable:
    """Rows under a header, in the order in which they are shown first."""

    header: tuple[str, ...]
    rows: Sequence[Sequence[Cell]]


@dataclass(frozen=True)
class Figure:
    """One figure of a page.

    `legend` are pairs of colour and meaning, or have the name of a shape besides, which then is
    what has the meaning. `chart` is the library's, `drawing` an SVG document whose names are text;
    a figure has one of them, or its table alone. `choices` are other data of the chart, by name, of
    which a reader chooses one; the first is what it shows.
    """

    title: str
    text: str
    table: FigureTable
    chart: Any = None
    legend: tuple[tuple[str, ...], ...] = ()
    drawing: str = ""
    choices: dict[str, Any] = field(default_factory=dict)
