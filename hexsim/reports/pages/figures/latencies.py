"""The latencies of the calls of several instances at once."""

from collections.abc import Mapping
from typing import Any

from hexsim.reports.colours import MAIN, SERIES
from hexsim.reports.pages.figures.chart import chart, source
from hexsim.reports.pages.figures.figure import Figure, FigureTable
from hexsim.reports.pages.figures.layer_bars import layer_bars, stacked
from hexsim.results.throughput import PERCENTILES, Throughput
from hexsim.texts.figures import figure

_SIZES = (13, 9, 5)
"""Diameters in px, in turn: of threads that take equally long, all marks can be seen."""


def latencies_figure(throughput: Throughput) -> Figure:
    """Return the figure of the latencies: a point per call."""
    tooltip = (("", "@name"), ("call", "@call"), ("latency", "@ms{0.000} ms"))
    plot = chart("call", "ms", tooltip=tooltip)
    legend: list[tuple[str, str]] = []
    rows: list[tuple[str | int | float | None, ...]] = []
    for number, thread in enumerate(throughput.threads):
        name = f"{number}: {thread.network} on {thread.runtime}, {thread.priority}"
        latencies = [us / 1e3 for us in thread.latencies_us]
        columns: dict[str, list[Any]] = {
            "name": [name] * len(latencies),
            "call": list(range(len(latencies))),
            "ms": latencies,
        }
        marks, colour = source(columns), SERIES[number % len(SERIES)]
        size = _SIZES[number % len(_SIZES)]
        style = {"color": colour, "fill_alpha": "alpha", "line_alpha": "alpha"}
        plot.scatter("call", "ms", size=size, source=marks, **style)
        legend.append((colour, name))
        shares = (us / 1e3 for us in thread.latency_us.values())
        alone = thread.alone.inferences_per_second
        rows.append((name, thread.inferences, thread.inferences_per_second, alone, *shares))
    plot.y_range.start = 0
    header = ("thread", "inferences", "per second", "per second alone")
    return Figure(
        "Latencies",
        "Each point is a call.",
        FigureTable((*header, *(f"{name} ms" for name in PERCENTILES)), rows),
        plot,
        tuple(legend),
    )


def throughput_answer(throughput: Throughput) -> str:
    """Return a sentence on what all threads reach together."""
    total, count = throughput.total.inferences_per_second, len(throughput.threads)
    alone = sum(thread.alone.inferences_per_second for thread in throughput.threads)
    limit = f", limited by {throughput.limited_by}" if throughput.limited_by else ""
    if count == 1:
        return f"One thread reaches {figure(total)} inferences per second{limit}."
    return (
        f"{count} threads together reach {figure(total)} inferences per second{limit}: "
        f"{total / alone:.0%} of what they would reach if each were alone."
    )


def use_figure(throughput: Throughput) -> Figure:
    """Return the figure of the utilisation of each resource."""
    shares = throughput.utilisation
    plot = share_bars("share used", "used", shares)
    text = "How much of its time each part of the phone is busy."
    return Figure(
        "Utilisation", text, FigureTable(("resource", "share"), list(shares.items())), plot
    )


def share_bars(across: str, what: str, shares: Mapping[str, float]) -> Any:
    """Return a chart of shares (0 .. 1) by name, the largest on top."""
    rows = [(name, {what: shares[name]}) for name in sorted(shares, key=lambda name: -shares[name])]
    bars = [part for row, pair in enumerate(rows) for part in stacked(row, *pair, {what: MAIN})]
    plot = layer_bars(across, [name for name, _ in rows], bars, ((what, "@whole{0.0%}"),))
    plot.x_range.end = 1
    return plot
