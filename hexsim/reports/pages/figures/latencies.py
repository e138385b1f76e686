"""The latencies of the calls of several instances at once."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from hexsim.reports.pages.figures.chart import PALETTE, chart, source
from hexsim.reports.pages.figures.figure import Figure, FigureTable


def latencies_figure(facts: Mapping[str, Any]) -> Figure:
    """Return the figure of the data of `hexsim throughput --json`: a point per call."""
    tooltip = (("", "@name"), ("call", "@call"), ("latency", "@ms{0.000} ms"))
    plot = chart("call", "ms", tooltip=tooltip)
    legend, rows = [], []
    for number, thread in enumerate(facts["threads"]):
        name = f"{number}: {thread['network']} on {thread['runtime']}, {thread['priority']}"
        latencies = [us / 1e3 for us in thread["latencies_us"]]
        columns: dict[str, list[Any]] = {
            "name": [name] * len(latencies),
            "call": list(range(len(latencies))),
            "ms": latencies,
        }
        marks, colour = source(columns), PALETTE[number % len(PALETTE)]
        style = {"color": colour, "fill_alpha": "alpha", "line_alpha": "alpha"}
        plot.scatter("call", "ms", size=7, source=marks, **style)
        legend.append((colour, name))
        shares = (us / 1e3 for us in thread["latency_us"].values())
        alone = thread["alone"]["inferences_per_second"]
        rows.append((name, thread["inferences"], thread["inferences_per_second"], alone, *shares))
    plot.y_range.start = 0
    names = facts["threads"][0]["latency_us"] if facts["threads"] else ()
    header = ("thread", "inferences", "per second", "per second alone")
    total = facts["total"]["inferences_per_second"]
    limit = f", limited by {facts['limited_by']}" if facts["limited_by"] else ""
    return Figure(
        "Latencies",
        f"{total:.2f} inferences per second together{limit}. Each point is a call.",
        FigureTable((*header, *(f"{name} ms" for name in names)), rows),
        plot,
        tuple(legend),
    )


def use_figure(facts: Mapping[str, Any]) -> Figure:
    """Return the figure of the utilisation of each resource."""
    shares = facts["utilisation"]
    plot = chart(
        "share used",
        "",
        height=30 * len(shares) + 90,
        tooltip=(("", "@name"), ("used", "@share{0.0%}")),
        x_range=(0, 1),
        y_range=list(reversed(shares)),
    )
    columns = {"name": list(shares), "share": list(shares.values())}
    style = {"color": PALETTE[6], "fill_alpha": "alpha", "line_alpha": "alpha"}
    plot.hbar(y="name", right="share", height=0.6, source=source(columns), **style)
    text = "How much of its time each part of the phone is busy."
    return Figure(
        "Utilisation", text, FigureTable(("resource", "share"), list(shares.items())), plot
    )
