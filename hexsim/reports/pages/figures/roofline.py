"""Layers under the roofs of the chip: multiply-adds per byte, and per second."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from hexsim.reports.pages.figures.chart import GREY, PALETTE, chart, source
from hexsim.reports.pages.figures.figure import Figure, FigureTable

_LEVELS = {"ddr": ("DDR", PALETTE[0], "circle"), "l2": ("L2", PALETTE[1], "square")}


def roofline_figure(found: Mapping[str, Any]) -> Figure:
    """Return the figure of what `hexsim roofline --json` has; a layer is there once per level."""
    points = found["points"]
    told = (
        ("", "@name"),
        ("per byte", "@intensity{0.00} MAC"),
        ("reaches", "@reached{0.000} GMAC/s"),
        ("of", "@roofed{0.000} GMAC/s"),
    )
    made = chart(
        "multiply-adds per byte",
        "GMAC/s",
        height=420,
        told=told,
        x_axis_type="log",
        y_axis_type="log",
    )
    legend = []
    for level, (label, colour, marker) in _LEVELS.items():
        placed = [point for point in points if point[f"{level}_macs_per_byte"]]
        if not placed:
            continue
        columns = {
            "name": [point["name"] for point in placed],
            "intensity": [point[f"{level}_macs_per_byte"] for point in placed],
            "reached": [point["macs_per_s"] / 1e9 for point in placed],
            "roofed": [point["roof_macs_per_s"] / 1e9 for point in placed],
        }
        marks = source(columns)
        look = {"color": colour, "fill_alpha": "alpha", "line_alpha": "alpha"}
        made.scatter("intensity", "reached", size=9, marker=marker, source=marks, **look)
        legend.append((colour, f"a layer, by its bytes of {label}"))
    legend += _roofs(made, found, points)
    return Figure(
        "Roofline",
        f"How near each layer comes to what {found['engine'].upper()} can do. "
        f"Layers that multiply nothing or run elsewhere ({found['other_layers']}) take "
        f"{found['other_share']:.1%} of the time together with the overheads.",
        _table(points),
        made,
        tuple(legend),
    )


def _roofs(
    made: Any, found: Mapping[str, Any], points: Sequence[Mapping[str, Any]]
) -> list[tuple[str, str]]:
    """Draw the lines that no layer passes, as far as there are layers; return their legend."""
    peak = found["peak_macs_per_s"] / 1e9
    values = [p[f"{level}_macs_per_byte"] for p in points for level in _LEVELS]
    placed = [value for value in values if value]
    if not placed:
        return []
    low, high = min(placed) / 2, max(placed) * 2
    made.y_range.start = min(point["macs_per_s"] for point in points) / 2e9
    made.y_range.end = peak * 2
    made.line([low, high], [peak, peak], line_color=PALETTE[4], line_width=2)
    legend = [(PALETTE[4], f"{found['engine'].upper()}: {peak:.4g} GMAC/s")]
    for memory in found["memories"]:
        rate = memory["bytes_per_s"] / 1e9
        until = max(low, min(high, peak / rate))
        colour = _LEVELS[memory["level"]][1] if memory["is_limit"] else GREY
        dash = "solid" if memory["is_limit"] else "dashed"
        ends = [low, until]
        made.line(ends, [rate * end for end in ends], line_color=colour, line_dash=dash)
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
