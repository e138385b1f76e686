"""A bar for each layer, in the order in which they run, made of parts with a name and a colour."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from itertools import accumulate
from typing import Any, NamedTuple

from hexsim.reports.pages.figures.chart import chart, source

BAR = 0.8
"""How wide a bar is, of the room that a layer has."""


class BarPart(NamedTuple):
    """A rectangle: `amount` of a layer's `whole` goes on `what`."""

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
    """Return the parts of the bar of layer `number`, one on the other from the bottom up."""
    named = list(amounts)
    tops = accumulate(amount for _, amount in named)
    left, right = number - BAR / 2, number + BAR / 2
    return [
        BarPart(name, what, amount, whole, left, right, top - amount, top, colours[what])
        for (what, amount), top in zip(named, tops, strict=True)
    ]


def layer_bars(up: str, parts: Sequence[BarPart], told: Sequence[tuple[str, str]]) -> Any:
    """Return a chart of bars; `up` is what it measures, `told` what a pointed part says."""
    made = chart("layers, in the order in which they run", up, told=(("", "@name"), *told))
    columns = {key: [getattr(part, key) for part in parts] for key in BarPart._fields}
    made.quad(
        left="left",
        right="right",
        bottom="bottom",
        top="top",
        fill_color="colour",
        line_color=None,
        fill_alpha="alpha",
        source=source(columns),
    )
    made.xaxis.ticker.min_interval = 1
    made.y_range.start = 0
    return made


def legend(parts: Sequence[BarPart], colours: Mapping[str, str]) -> tuple[tuple[str, str], ...]:
    """Return the colours of what is seen, in the order of `colours`."""
    seen = {part.what for part in parts}
    return tuple((colour, what) for what, colour in colours.items() if what in seen)
