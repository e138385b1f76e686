"""Layers under the roofs of the chip: multiply-adds per byte, and per second.

A layer is drawn once, at its bytes of the memory that binds it. Its colour is its bound, and so is
that of the roof. A layer that computes most of its time has a short roof of its own.
"""

import math
from collections.abc import Sequence
from typing import Any

from hexsim.reports.colours import BOUNDS
from hexsim.reports.pages.figures.chart import chart, source
from hexsim.reports.pages.figures.figure import Figure, FigureTable
from hexsim.reports.roofline.table import OWN_ROOF, roof_colour
from hexsim.reports.text import number
from hexsim.results.roofline import Roofline, RooflinePoint
from hexsim.texts.figures import figure


def roofline_figure(roofline: Roofline) -> Figure:
    """Return the figure: a mark per layer in the colour of its bound."""
    tooltip = (
        *(("", "@name"), ("per byte", "@place{0.00} MAC"), ("reaches", "@reached{0.000} GMAC/s")),
        *(("of", "@roofed{0.000} GMAC/s by @roof"), ("bound", "@bound, @share{0%} of its time")),
    )
    log: dict[str, Any] = {"x_axis_type": "log", "y_axis_type": "log"}
    plot = chart("multiply-adds per byte", "GMAC/s", height=460, tooltip=tooltip, **log)
    drawn = [point for point in roofline.points if math.isfinite(point.place)]
    legend = _roofs(plot, roofline, drawn)
    own = [point for point in drawn if point.bound == "compute"]
    style: dict[str, Any] = {"line_color": BOUNDS["compute"], "line_alpha": "alpha"}
    marks = source(_columns(own))
    plot.segment("place", "reached", "place", "own", source=marks, **style)
    plot.scatter("place", "own", marker="dash", size=14, source=marks, line_width=2, **style)
    style = {"color": "colour", "fill_alpha": "alpha", "line_alpha": "alpha"}
    plot.scatter("place", "reached", size=9, source=source(_columns(drawn)), **style)
    bounds = dict.fromkeys(point.bound for point in drawn)
    legend += [(BOUNDS[bound], f"layer bound by {bound}", "circle") for bound in bounds]
    missing = len(roofline.points) - len(drawn)
    remark = f" Not drawn: {number(missing, 'layer')} that moves no bytes." if missing else ""
    return Figure(
        "Roofline",
        f"How near each layer comes to what {roofline.engine.upper()} can do, at its bytes "
        f"of the memory that binds it. {OWN_ROOF if own else ''} Layers that multiply nothing or "
        f"run elsewhere ({roofline.other_layers}) take {roofline.other_share:.0%} of the time "
        f"together with the overheads.{remark}",
        _table(roofline.points),
        plot,
        tuple(legend),
    )


def _columns(points: Sequence[RooflinePoint]) -> dict[str, list[Any]]:
    return {
        "name": [point.name for point in points],
        "place": [point.place for point in points],
        "reached": [point.macs_per_s / 1e9 for point in points],
        "roofed": [point.roof_macs_per_s / 1e9 for point in points],
        "roof": [point.roof for point in points],
        "own": [point.own_macs_per_s / 1e9 for point in points],
        "bound": [point.bound for point in points],
        "share": [point.bound_share for point in points],
        "colour": [BOUNDS[point.bound] for point in points],
    }


def _roofs(plot: Any, roofline: Roofline, points: Sequence[RooflinePoint]) -> list[tuple[str, ...]]:
    """Draw the lines that no layer exceeds, over the range of the layers; return their legend."""
    roofs = roofline
    peak = roofs.peak_macs_per_s / 1e9
    if not points:
        return []
    ridges = [roofs.peak_macs_per_s / memory.bytes_per_s for memory in roofs.memories]
    places = [*(point.place for point in points), *ridges]
    low, high = min(places) / 2, max(places) * 2
    plot.y_range.start = min(point.macs_per_s for point in points) / 2e9
    plot.y_range.end = peak * 2
    colour = BOUNDS["compute"]
    plot.line([min(ridges), high], [peak, peak], line_color=colour, line_width=2)
    legend: list[tuple[str, ...]] = [(colour, f"{roofs.peak_name}: {figure(peak)} GMAC/s")]
    for memory, ridge in zip(roofs.memories, ridges, strict=True):
        rate, colour = memory.bytes_per_s / 1e9, roof_colour(memory)
        line = [low, ridge]
        dash = "solid" if memory.is_limit else "dashed"
        ends = [rate * x for x in line]
        plot.line(line, ends, line_color=colour, line_width=2, line_dash=dash)
        legend.append((colour, f"{memory.name}: {figure(rate)} GB/s"))
    return legend


def _table(points: Sequence[RooflinePoint]) -> FigureTable:
    header = (
        *("layer", "type", "MAC/B of DDR", "MAC/B of L2", "GMAC/s", "roof", "of its roof"),
        *("lost us", "bound", "bound's share of its time"),
    )
    rows = [
        (
            *(point.name, point.type),
            *(point.ddr_macs_per_byte, point.l2_macs_per_byte),
            *(point.macs_per_s / 1e9, point.roof, point.share_of_roof, point.lost_us),
            *(point.bound, point.bound_share),
        )
        for point in points
    ]
    return FigureTable(header, rows)
