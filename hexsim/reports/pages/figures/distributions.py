"""Histograms of the float values of activations, with their quantised values (codes) below.

Counts have a logarithmic axis, since often most values are zero and few are clipped. Below the
bars a ruler has a stripe for every other code, each one step wide.
"""

from collections.abc import Iterator, Sequence
from operator import attrgetter
from typing import Any, NamedTuple

from hexsim.reports.colours import BAD, ENCODING, GREY, MAIN
from hexsim.reports.pages.figures.chart import chart, rectangles
from hexsim.reports.pages.figures.figure import Figure, FigureTable
from hexsim.results.validation import Distribution
from hexsim.texts.figures import figure, percent

_FLOOR = 0.5
"""The lower end of the bars; a logarithmic axis has no zero."""
_RULER = (0.28, 0.42)
"""Bottom and top of the ruler, below the bars."""
_MOST_CODES = 256
"""The most codes of a ruler, those of 8 bits; more would be narrower than a pixel."""
_VALUES, _CLIPPED, _CODE = MAIN, BAD, ENCODING


class _Mark(NamedTuple):
    """A rectangle; `number` is a count of values or a code."""

    what: str
    number: int
    left: float
    right: float
    bottom: float
    top: float
    colour: str
    edge: float = 0.0


def distributions_figure(distributions: Sequence[Distribution]) -> Figure | None:
    """Return the figure of the counts; None without any."""
    if not distributions:
        return None
    choices = {
        _name(distribution): _columns(list(_marks(distribution))) for distribution in distributions
    }
    tooltip = (("", "@what: @number"), ("from", "@left{0.00000}"), ("to", "@right{0.00000}"))
    plot = chart("value in float", "how many, by powers of ten", tooltip=tooltip, y_axis_type="log")
    first = next(iter(choices.values()))
    rectangles(plot, first, line_color="colour", line_alpha="edge", line_width=2, fill_alpha=1)
    header = ("layer", "tensor", "SQNR dB", "values", "code low", "code high", "step", "bits")
    return Figure(
        "Values and codes",
        f"The float values of the {len(distributions)} tensors with the lowest SQNR; choose one. "
        "Upright lines are the ends of its encoding. Below, every other code of 8 bits is a "
        "stripe, as wide as a step; zoom in to tell them apart. A value more than half a step "
        "outside is clipped.",
        FigureTable((*header, "clipped"), [_row(distribution) for distribution in distributions]),
        plot,
        (
            (_VALUES, "values"),
            (_CLIPPED, "values that are clipped"),
            (_CODE, "ends of the encoding"),
            (GREY, "codes"),
        ),
        choices=choices,
    )


def _name(distribution: Distribution) -> str:
    share = percent(distribution.clipped) if distribution.clipped else "none"
    return f"{distribution.tensor}: {figure(distribution.sqnr_db)} dB, {share} clipped"


def _marks(distribution: Distribution) -> Iterator[_Mark]:
    """Yield the marks of codes, of bins that are not empty, and of the bounds of the encoding."""
    encoding, counts = distribution.encoding, distribution.counts
    step, offset, codes = encoding.delta, encoding.offset, 1 << encoding.bitwidth
    for code in range(0, codes, 2) if codes <= _MOST_CODES else ():
        left = step * (code + offset - 0.5)
        yield _Mark("code", code, left, left + step, *_RULER, GREY)
    low, high = encoding.min - step / 2, encoding.max + step / 2
    for number, count in enumerate(counts):
        left = distribution.first_bin + distribution.bin_width * number
        right = left + distribution.bin_width
        kind, colour = ("clipped", _CLIPPED) if right < low or left > high else ("values", _VALUES)
        if count:
            yield _Mark(kind, count, left, right, _FLOOR, count, colour)
    for name, code, bound in (("min", 0, encoding.min), ("max", codes - 1, encoding.max)):
        yield _Mark(f"{name}, code", code, bound, bound, _RULER[0], max(counts), _CODE, 1.0)


def _columns(marks: Sequence[_Mark]) -> dict[str, list[Any]]:
    return {key: [getattr(mark, key) for mark in marks] for key in _Mark._fields}


def _row(distribution: Distribution) -> tuple[Any, ...]:
    names = attrgetter("layer", "tensor", "sqnr_db")(distribution)
    parts = attrgetter("min", "max", "delta", "bitwidth")(distribution.encoding)
    return (*names, sum(distribution.counts), *parts, distribution.clipped)
