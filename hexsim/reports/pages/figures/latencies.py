"""Calls of several instances at once: the latency of each, one after the other."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from hexsim.reports.pages.figures.chart import PALETTE, chart, source
from hexsim.reports.pages.figures.figure import Figure, FigureTable


def latencies_figure(found: Mapping[str, Any]) -> Figure:
    """Return the figure of what `hexsim throughput --json` has: a point per call."""
    told = (("", "@name"), ("call", "@call"), ("latency", "@ms{0.000} ms"))
    made = chart("call", "ms", told=told)
    legend, rows = [], []
    for number, thread in enumerate(found["threads"]):
        name = f"{number}: {thread['network']} on {thread['runtime']}, {thread['priority']}"
        latencies = [us / 1e3 for us in thread["latencies_us"]]
        columns: dict[str, list[Any]] = {
            "name": [name] * len(latencies),
            "call": list(range(len(latencies))),
            "ms": latencies,
        }
        marks, colour = source(columns), PALETTE[number % len(PALETTE)]
        look = {"color": colour, "fill_alpha": "alpha", "line_alpha": "alpha"}
        made.scatter("call", "ms", size=7, source=marks, **look)
        legend.append((colour, name))
        shares = (us / 1e3 for us in thread["latency_us"].values())
        alone = thread["alone"]["inferences_per_second"]
        rows.append((name, thread["inferences"], thread["inferences_per_second"], alone, *shares))
    made.y_range.start = 0
    names = found["threads"][0]["latency_us"] if found["threads"] else ()
    header = ("thread", "inferences", "per second", "per second alone")
    total = found["total"]["inferences_per_second"]
    limit = f", limited by {found['limited_by']}" if found["limited_by"] else ""
    return Figure(
        "Latencies",
        f"{total:.2f} inferences per second together{limit}. Each point is a call.",
        FigureTable((*header, *(f"{name} ms" for name in names)), rows),
        made,
        tuple(legend),
    )


def use_figure(found: Mapping[str, Any]) -> Figure:
    """Return how much of each resource is used."""
    shares = found["utilisation"]
    made = chart(
        "share used",
        "",
        height=30 * len(shares) + 90,
        told=(("", "@name"), ("used", "@share{0.0%}")),
        x_range=(0, 1),
        y_range=list(reversed(shares)),
    )
    columns = {"name": list(shares), "share": list(shares.values())}
    look = {"color": PALETTE[6], "fill_alpha": "alpha", "line_alpha": "alpha"}
    made.hbar(y="name", right="share", height=0.6, source=source(columns), **look)
    text = "How much of its time each part of the phone is busy."
    return Figure(
        "Utilisation", text, FigureTable(("resource", "share"), list(shares.items())), made
    )
