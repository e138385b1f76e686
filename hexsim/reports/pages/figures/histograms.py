"""Histograms of weights, with the range of their encoding."""

from typing import Any

from hexsim.quantization.encodings import AxisEncoding, Encoding
from hexsim.quantization.model import Model
from hexsim.reports.colours import MAIN
from hexsim.reports.pages.figures.chart import chart, rectangles
from hexsim.reports.pages.figures.figure import Figure, FigureTable
from hexsim.reports.pages.histogram import BinnedValues, histogram

MOST = 200
"""The most weights of a page, the largest of the network."""
_FEWEST = 9
"""The least number of elements of a constant that is counted."""


def histograms_figure(model: Model) -> Figure | None:
    """Return the histograms of the largest weights; None if there are none."""
    constants = model.network.constants
    weights = [constants[name] for name in constants if name in model.network.weights]
    largest = sorted(weights, key=lambda weight: -weight.elements)[:MOST]
    large = {weight.name for weight in largest if weight.elements >= _FEWEST}
    names = [weight.name for weight in weights if weight.name in large]
    binned = {name: bins for name in names if (bins := histogram(model, name)) is not None}
    if not binned:
        return None
    choices = {name: _columns(bins) for name, bins in binned.items()}
    plot = chart(
        "value", "how many", tooltip=(("values", "@left{0.0000} to @right{0.0000}"), ("", "@count"))
    )
    first = next(iter(choices.values()))
    rectangles(plot, first, bottom=0, top="count", fill_color=MAIN)
    plot.y_range.start = 0
    return Figure(
        "Weights",
        "How often the values of a constant occur as its file holds them; choose one. The table "
        f"has the ranges of the encodings. At most the {MOST} largest constants are counted.",
        FigureTable(
            ("constant", "smallest", "largest", "encoding from", "to", "bits", "encodings"),
            [(name, bins.low, bins.high, *_range(model, name)) for name, bins in binned.items()],
        ),
        plot,
        choices=choices,
    )


def _columns(bins: BinnedValues) -> dict[str, list[Any]]:
    width = (bins.high - bins.low) / len(bins.counts)
    edges = [bins.low + width * number for number in range(len(bins.counts) + 1)]
    return {"left": edges[:-1], "right": edges[1:], "count": list(bins.counts)}


def _range(model: Model, name: str) -> tuple[Any, ...]:
    encoding = model.encoding(name)
    if isinstance(encoding, Encoding):
        return encoding.min, encoding.max, encoding.bitwidth, 1
    if isinstance(encoding, AxisEncoding):
        channels = encoding.channels
        low, high = min(c.min for c in channels), max(c.max for c in channels)
        return low, high, channels[0].bitwidth, len(channels)
    return None, None, None, 0
