"""The effect of each constant on the time of an inference, and the datasheet that states it."""

from collections.abc import Sequence
from typing import Any

from hexsim.reports.colours import MAIN, MARKED
from hexsim.reports.pages.figures.figure import Figure, FigureTable
from hexsim.reports.pages.figures.layer_bars import BarPart, layer_bars
from hexsim.reports.text import quantity
from hexsim.results.benchmark import Inference
from hexsim.results.costs import ConstantEffect
from hexsim.texts.figures import figure

MOST = 20
"""The most constants that are drawn; the table has all."""


def interval_figures(case: Inference) -> list[Figure]:
    """Return the figure of a case whose constants were tried one by one; none for other cases."""
    uncertainty = case.uncertainty
    if uncertainty is None or not uncertainty.constants:
        return []
    low, high = (us / 1e3 for us in uncertainty.total_inference_us)
    nominal = case.total_inference_us / 1e3
    every = uncertainty.swept == "everything"
    drawn = Figure(
        "Interval and constants",
        f"{figure(nominal)} ms, between {figure(low)} and {figure(high)}: the constants that are "
        f"{'assumed or calibrated' if every else 'of the tensor engine'}, "
        "each at both ends of its own interval. The table says who states each.",
        _table(uncertainty.constants),
        _bars(uncertainty.constants, nominal),
        ((MAIN, "from one end of the constant's interval to the other"), (MARKED, "as stated")),
    )
    return [drawn]


def _bars(constants: Sequence[ConstantEffect], nominal: float) -> Any:
    drawn = constants[:MOST]
    parts = []
    for row, constant in enumerate(drawn):
        left, right = sorted(us / 1e3 for us in constant.total_inference_us)
        name = f"{constant.stated_by}: {constant.constant}"
        place = (left, right, -row - 0.35, -row + 0.35)
        parts.append(BarPart(name, f"{figure(left)} to", right, constant.share, *place, MAIN))
    tooltip = (("ms", "@what @amount{0.000}"), ("share", "@whole{0.0%}"))
    plot = layer_bars("ms", [constant.constant for constant in drawn], parts, tooltip)
    plot.line([nominal, nominal], [0.5 - len(drawn), 0.5], line_color=MARKED, line_width=2)
    return plot


def _table(constants: Sequence[ConstantEffect]) -> FigureTable:
    header = (
        *("constant", "stated by", "confidence", "low", "value", "high"),
        *("ms at low", "ms at high", "share", "source"),
    )
    rows: list[tuple[Any, ...]] = []
    for constant in constants:
        low, high = constant.interval
        at_low, at_high = constant.total_inference_us
        sizes = (quantity(value, constant.unit) for value in (low, constant.value, high))
        names = (constant.constant, constant.stated_by, constant.confidence)
        rows.append((*names, *sizes, at_low / 1e3, at_high / 1e3, constant.share, constant.source))
    return FigureTable(header, rows)
