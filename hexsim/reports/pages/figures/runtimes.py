"""Times of networks on runtimes, with their intervals and measured times."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from hexsim.reports.pages.figures.chart import GREY, PALETTE, chart, source
from hexsim.reports.pages.figures.figure import Figure, FigureTable
from hexsim.reports.text import quantity

_ROW, _BORDERS = 40, 70


def runtimes_figure(cases: Sequence[Mapping[str, Any]]) -> Figure:
    """Return the figure: a bar per case, a line for its interval, marks for measured times."""
    labels = [f"{case['network']} on {case['runtime']}" for case in cases]
    rows = [-row for row in range(len(cases))]
    columns = {
        "name": labels,
        "ms": [case["total_inference_us"] / 1e3 for case in cases],
        "bottom": [row - 0.4 for row in rows],
        "top": [row - 0.02 for row in rows],
    }
    plot = chart(
        "ms, total inference",
        "",
        height=_ROW * len(cases) + _BORDERS,
        tooltip=(("", "@name"), ("total inference", "@ms{0.000} ms")),
        y_range=(0.4 - len(cases), 0.6),
    )
    marks = source(columns)
    style = {"fill_color": PALETTE[0], "line_color": None, "fill_alpha": "alpha", "source": marks}
    plot.quad(left=0, right="ms", bottom="bottom", top="top", **style)
    _labels(plot, marks)
    legend = [(PALETTE[0], "simulated")]
    uncertain = [(row, case) for row, case in zip(rows, cases, strict=True) if case["uncertainty"]]
    if uncertain:
        intervals = [
            [us / 1e3 for us in case["uncertainty"]["total_inference_us"]] for _, case in uncertain
        ]
        heights = [[row - 0.21] * 2 for row, _ in uncertain]
        plot.multi_line(intervals, heights, line_color=GREY, line_width=3)
        legend.append((GREY, "its interval"))
    measured = [
        (ms, row - 0.21)
        for row, case in zip(rows, cases, strict=True)
        for ms in case["measured_ms"]["total_inference"]
    ]
    if measured:
        across, up = zip(*measured, strict=True)
        plot.scatter(list(across), list(up), size=9, color=PALETTE[1], marker="diamond")
        legend.append((PALETTE[1], "measured"))
    plot.x_range.start = 0
    plot.yaxis.visible = False
    plot.ygrid.visible = False
    text = "Total inference time: what an application waits for. Intervals are there if swept."
    return Figure("Runtimes", text, _table(cases), plot, tuple(legend))


def _labels(plot: Any, marks: Any) -> None:
    from bokeh.models import LabelSet

    style = {"text_font_size": "11px", "text_baseline": "bottom"}
    plot.add_layout(LabelSet(x=4, x_units="screen", y="top", text="name", source=marks, **style))


def _table(cases: Sequence[Mapping[str, Any]]) -> FigureTable:
    header = (
        *("network", "runtime", "total ms", "low", "high", "forward ms", "measured total ms"),
        *("peak memory", "SQNR dB", "same top-1", "inputs"),
    )
    rows = []
    for case in cases:
        uncertainty, accuracy = case["uncertainty"], case["accuracy"]
        low, high = uncertainty["total_inference_us"] if uncertainty else (None, None)
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
