"""A bar for each layer, the longest on top, made of parts with a name and a colour.

Only the longest are drawn, and figures say how many are not; tables have every layer.
"""

from collections.abc import Iterable, Mapping, Sequence
from itertools import accumulate
from typing import Any, NamedTuple

from hexsim.reports.colours import ENGINES, MEMORIES
from hexsim.reports.pages.figures.chart import chart, name_rows, rectangles
from hexsim.reports.text import number

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
