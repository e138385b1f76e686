"""A bar for each layer, in the order in which they run, made of parts with a name and a colour."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from itertools import accumulate
from typing import Any, NamedTuple

from hexsim.reports.pages.figures.chart import chart, source

BAR = 0.8
"""The width of a bar, as a share of the space of a layer."""


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


def stacked(
    number: int,
    name: str,
    whole: float,
    amounts: Iterable[tuple[str, float]],
    colours: Mapping[str, str],
) -> list[BarPart]:
    """Return the parts of the bar of layer `number`, stacked from the bottom up."""
    pairs = list(amounts)
    tops = accumulate(amount for _, amount in pairs)
    left, right = number - BAR / 2, number + BAR / 2
    return [
        BarPart(name, what, amount, whole, left, right, top - amount, top, colours[what])
        for (what, amount), top in zip(pairs, tops, strict=True)
    ]


def layer_bars(up: str, parts: Sequence[BarPart], tooltip: Sequence[tuple[str, str]]) -> Any:
    """Return a chart of bars; `up` is its quantity, `tooltip` is shown for the part pointed at."""
    plot = chart("layers, in the order in which they run", up, tooltip=(("", "@name"), *tooltip))
    columns = {key: [getattr(part, key) for part in parts] for key in BarPart._fields}
    plot.quad(
        left="left",
        right="right",
        bottom="bottom",
        top="top",
        fill_color="colour",
        line_color=None,
        fill_alpha="alpha",
        source=source(columns),
    )
    plot.xaxis.ticker.min_interval = 1
    plot.y_range.start = 0
    return plot


def legend(parts: Sequence[BarPart], colours: Mapping[str, str]) -> tuple[tuple[str, str], ...]:
    """Return the colours of the parts that are drawn, in the order of `colours`."""
    drawn = {part.what for part in parts}
    return tuple((colour, what) for what, colour in colours.items() if what in drawn)
