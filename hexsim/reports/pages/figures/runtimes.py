"""Times of networks on runtimes, with their intervals and what was measured."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from hexsim.reports.pages.figures.chart import GREY, PALETTE, chart, source
from hexsim.reports.pages.figures.figure import Figure, FigureTable
from hexsim.reports.text import quantity

_ROW, _BORDERS = 40, 70


def runtimes_figure(cases: Sequence[Mapping[str, Any]]) -> Figure:
    """Return the figure of cases: a bar each, a line for its interval, dots for measured times."""
    labels = [f"{case['network']} on {case['runtime']}" for case in cases]
    rows = [-row for row in range(len(cases))]
    columns = {
        "name": labels,
        "ms": [case["total_inference_us"] / 1e3 for case in cases],
        "bottom": [row - 0.4 for row in rows],
        "top": [row - 0.02 for row in rows],
    }
    made = chart(
        "ms, total inference",
        "",
        height=_ROW * len(cases) + _BORDERS,
        told=(("", "@name"), ("total inference", "@ms{0.000} ms")),
        y_range=(0.4 - len(cases), 0.6),
    )
    marks = source(columns)
    look = {"fill_color": PALETTE[0], "line_color": None, "fill_alpha": "alpha", "source": marks}
    made.quad(left=0, right="ms", bottom="bottom", top="top", **look)
    _labels(made, marks)
    legend = [(PALETTE[0], "simulated")]
    swept = [(row, case) for row, case in zip(rows, cases, strict=True) if case["uncertainty"]]
    if swept:
        ends = [[us / 1e3 for us in one["uncertainty"]["total_inference_us"]] for _, one in swept]
        heights = [[row - 0.21] * 2 for row, _ in swept]
        made.multi_line(ends, heights, line_color=GREY, line_width=3)
        legend.append((GREY, "its interval"))
    measured = [
        (ms, row - 0.21)
        for row, case in zip(rows, cases, strict=True)
        for ms in case["measured_ms"]["total_inference"]
    ]
    if measured:
        across, up = zip(*measured, strict=True)
        made.scatter(list(across), list(up), size=9, color=PALETTE[1], marker="diamond")
        legend.append((PALETTE[1], "measured"))
    made.x_range.start = 0
    made.yaxis.visible = False
    made.ygrid.visible = False
    text = "Total inference time: what an application waits for. Intervals are there if swept."
    return Figure("Runtimes", text, _table(cases), made, tuple(legend))


def _labels(made: Any, marks: Any) -> None:
    from bokeh.models import LabelSet

    look = {"text_font_size": "11px", "text_baseline": "bottom"}
    made.add_layout(LabelSet(x=4, x_units="screen", y="top", text="name", source=marks, **look))


def _table(cases: Sequence[Mapping[str, Any]]) -> FigureTable:
    header = (
        *("network", "runtime", "total ms", "low", "high", "forward ms", "measured total ms"),
        *("peak memory", "SQNR dB", "same top-1", "inputs"),
    )
    rows = []
    for case in cases:
        found, accuracy = case["uncertainty"], case["accuracy"]
        low, high = found["total_inference_us"] if found else (None, None)
        rows.append(
            (
                case["network"],
                case["runtime"],
                case["total_inference_us"] / 1e3,
                None if low is None else low / 1e3,
                None if high is None else high / 1e3,
                case["forward_propagate_us"] / 1e3,
                " .. ".join(f"{ms:g}" for ms in case["measured_ms"]["total_inference"]),
                quantity(case["memory"]["peak_bytes"], "B"),
                accuracy and accuracy["sqnr_db"],
                accuracy and accuracy["top1_agreement"],
                accuracy and accuracy["inputs"],
            )
        )
    return FigureTable(header, rows)
