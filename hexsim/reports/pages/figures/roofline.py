"""Layers under the roofs of the chip: multiply-adds per byte, and per second."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from hexsim.reports.pages.figures.chart import GREY, PALETTE, chart, source
from hexsim.reports.pages.figures.figure import Figure, FigureTable

_LEVELS = {"ddr": ("DDR", PALETTE[0], "circle"), "l2": ("L2", PALETTE[1], "square")}


def roofline_figure(facts: Mapping[str, Any]) -> Figure:
    """Return the figure of the data of `hexsim roofline --json`; layers have a mark per level."""
    points = facts["points"]
    tooltip = (
        ("", "@name"),
        ("per byte", "@intensity{0.00} MAC"),
        ("reaches", "@reached{0.000} GMAC/s"),
        ("of", "@roofed{0.000} GMAC/s"),
    )
    plot = chart(
        "multiply-adds per byte",
        "GMAC/s",
        height=420,
        tooltip=tooltip,
        x_axis_type="log",
        y_axis_type="log",
    )
    legend = []
    for level, (label, colour, marker) in _LEVELS.items():
        drawn = [point for point in points if point[f"{level}_macs_per_byte"]]
        if not drawn:
            continue
        columns = {
            "name": [point["name"] for point in drawn],
            "intensity": [point[f"{level}_macs_per_byte"] for point in drawn],
            "reached": [point["macs_per_s"] / 1e9 for point in drawn],
            "roofed": [point["roof_macs_per_s"] / 1e9 for point in drawn],
        }
        marks = source(columns)
        style = {"color": colour, "fill_alpha": "alpha", "line_alpha": "alpha"}
        plot.scatter("intensity", "reached", size=9, marker=marker, source=marks, **style)
        legend.append((colour, f"a layer, by its bytes of {label}"))
    legend += _roofs(plot, facts, points)
    return Figure(
        "Roofline",
        f"How near each layer comes to what {facts['engine'].upper()} can do. "
        f"Layers that multiply nothing or run elsewhere ({facts['other_layers']}) take "
        f"{facts['other_share']:.1%} of the time together with the overheads.",
        _table(points),
        plot,
        tuple(legend),
    )


def _roofs(
    plot: Any, facts: Mapping[str, Any], points: Sequence[Mapping[str, Any]]
) -> list[tuple[str, str]]:
    """Draw the lines that no layer exceeds, over the range of the layers; return their legend."""
    peak = facts["peak_macs_per_s"] / 1e9
    values = [point[f"{level}_macs_per_byte"] for point in points for level in _LEVELS]
    intensities = [value for value in values if value]
    if not intensities:
        return []
    low, high = min(intensities) / 2, max(intensities) * 2
    plot.y_range.start = min(point["macs_per_s"] for point in points) / 2e9
    plot.y_range.end = peak * 2
    plot.line([low, high], [peak, peak], line_color=PALETTE[4], line_width=2)
    legend = [(PALETTE[4], f"{facts['engine'].upper()}: {peak:.4g} GMAC/s")]
    for memory in facts["memories"]:
        rate = memory["bytes_per_s"] / 1e9
        end = max(low, min(high, peak / rate))
        colour = _LEVELS[memory["level"]][1] if memory["is_limit"] else GREY
        dash = "solid" if memory["is_limit"] else "dashed"
        line = [low, end]
        plot.line(line, [rate * x for x in line], line_color=colour, line_dash=dash)
        legend.append((colour, f"{memory['name']}: {rate:.4g} GB/s"))
    return legend


def _table(points: Sequence[Mapping[str, Any]]) -> FigureTable:
    header = ("layer", "type", "MAC/B of DDR", "MAC/B of L2", "GMAC/s", "roof", "lost us", "bound")
    rows = [
        (
            point["name"],
            point["type"],
            point["ddr_macs_per_byte"],
            point["l2_macs_per_byte"],
            point["macs_per_s"] / 1e9,
            point["roof"],
            point["lost_us"],
            point["bound"],
        )
        for point in points
    ]
    return FigureTable(header, rows)
