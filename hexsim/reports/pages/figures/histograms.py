"""How often the values of weights occur, with the range of their encoding."""

from __future__ import annotations

from typing import Any

from hexsim.quantization.encodings import AxisEncoding, Encoding
from hexsim.quantization.model import Model
from hexsim.reports.pages.figures.chart import PALETTE, chart, source
from hexsim.reports.pages.figures.figure import Figure, FigureTable
from hexsim.reports.pages.histogram import BinnedValues, histogram

MOST = 200
"""Weights that a page has, the largest of the network."""
_FEWEST = 9
"""Elements of the smallest constant that is counted."""


def histograms_figure(model: Model) -> Figure | None:
    """Return the histograms of the largest weights; None if there are none."""
    constants = model.network.constants
    weights = [constants[name] for name in constants if name in model.network.weights]
    largest = sorted(weights, key=lambda one: -one.elements)[:MOST]
    large = {one.name for one in largest if one.elements >= _FEWEST}
    names = [weight.name for weight in weights if weight.name in large]
    found = {name: one for name in names if (one := histogram(model, name)) is not None}
    if not found:
        return None
    choices = {name: _columns(one) for name, one in found.items()}
    made = chart(
        "value", "how many", told=(("values", "@left{0.0000} to @right{0.0000}"), ("", "@count"))
    )
    made.quad(
        left="left",
        right="right",
        bottom=0,
        top="count",
        fill_color=PALETTE[0],
        line_color=None,
        source=source(next(iter(choices.values()))),
    )
    made.y_range.start = 0
    return Figure(
        "Weights",
        "How often the values of a constant occur as its file holds them; choose one. The table "
        f"has the ranges of the encodings. At most the {MOST} largest constants are counted.",
        FigureTable(
            ("constant", "smallest", "largest", "encoding from", "to", "bits", "encodings"),
            [(name, one.low, one.high, *_range(model, name)) for name, one in found.items()],
        ),
        made,
        choices=choices,
    )


def _columns(one: BinnedValues) -> dict[str, list[Any]]:
    width = (one.high - one.low) / len(one.counts)
    edges = [one.low + width * number for number in range(len(one.counts) + 1)]
    return {"left": edges[:-1], "right": edges[1:], "count": list(one.counts)}


def _range(model: Model, name: str) -> tuple[Any, ...]:
    encoding = model.encoding(name)
    if isinstance(encoding, Encoding):
        return encoding.min, encoding.max, encoding.bitwidth, 1
    if isinstance(encoding, AxisEncoding):
        every = encoding.channels
        low, high = min(one.min for one in every), max(one.max for one in every)
        return low, high, every[0].bitwidth, len(every)
    return None, None, None, 0
