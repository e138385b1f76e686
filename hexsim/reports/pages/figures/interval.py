"""How far each constant moves the time of an inference, and who states it."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from hexsim.reports.pages.figures.chart import PALETTE, chart, source
from hexsim.reports.pages.figures.figure import Figure, FigureTable
from hexsim.reports.text import quantity

MOST = 20
"""Constants that are drawn; the table has all."""
_ROW, _BORDERS = 34, 70


def interval_figure(case: Mapping[str, Any]) -> Figure:
    """Return the figure of a case whose time has an interval."""
    found = case["uncertainty"]
    low, high = (us / 1e3 for us in found["total_inference_us"])
    nominal = case["total_inference_us"] / 1e3
    return Figure(
        "Interval and constants",
        f"{nominal:.2f} ms, between {low:.2f} and {high:.2f}: the constants that are "
        f"{'assumed or calibrated' if found['swept'] == 'everything' else 'of the tensor engine'}, "
        "each at both ends of its own interval. The table says who states each.",
        _table(found["constants"]),
        _bars(found["constants"], nominal) if found["constants"] else None,
    )


def _bars(constants: list[Mapping[str, Any]], nominal: float) -> Any:
    shown = constants[:MOST]
    ends = [[us / 1e3 for us in one["total_inference_us"]] for one in shown]
    rows = [-row for row in range(len(shown))]
    columns = {
        "constant": [f"{one['stated_by']}: {one['constant']}" for one in shown],
        "left": [min(pair) for pair in ends],
        "right": [max(pair) for pair in ends],
        "bottom": [row - 0.36 for row in rows],
        "top": [row - 0.04 for row in rows],
        "share": [one["share"] for one in shown],
    }
    told = (("", "@constant"), ("ms", "@left{0.000} to @right{0.000}"), ("share", "@share{0.0%}"))
    made = chart(
        "ms",
        "",
        height=_ROW * len(shown) + _BORDERS,
        told=told,
        y_range=(-len(shown) + 0.4, 0.6),
    )
    marks = source(columns)
    look = {"fill_color": PALETTE[0], "line_color": PALETTE[0], "source": marks}
    made.quad(left="left", right="right", bottom="bottom", top="top", **look)
    _names(made, marks)
    made.line([nominal, nominal], [-len(shown) + 0.5, 0.5], line_color=PALETTE[1], line_width=2)
    made.yaxis.visible = False
    made.ygrid.visible = False
    return made


def _names(made: Any, marks: Any) -> None:
    """Names stand above their bars, where a narrow screen has room for them."""
    from bokeh.models import LabelSet

    look = {"text_font_size": "11px", "text_baseline": "bottom"}
    made.add_layout(LabelSet(x=4, x_units="screen", y="top", text="constant", source=marks, **look))


def _table(constants: list[Mapping[str, Any]]) -> FigureTable:
    header = (
        *("constant", "stated by", "confidence", "low", "value", "high"),
        *("ms at low", "ms at high", "share", "source"),
    )
    rows = []
    for constant in constants:
        low, high = constant["interval"]
        at_low, at_high = constant["total_inference_us"]
        sizes = (quantity(value, constant["unit"]) for value in (low, constant["value"], high))
        named = (constant["constant"], constant["stated_by"], constant["confidence"])
        rows.append(
            (*named, *sizes, at_low / 1e3, at_high / 1e3, constant["share"], constant["source"])
        )
    return FigureTable(header, rows)
