"""The bytes that each layer moves, by level of memory.

Bytes of DDR pass through L2 as well, so the bars of levels are side by side and never added.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from hexsim.reports.pages.figures.chart import PALETTE
from hexsim.reports.pages.figures.figure import Figure, FigureTable
from hexsim.reports.pages.figures.layer_bars import BAR, BarPart, layer_bars, legend
from hexsim.reports.text import quantity

_KIB = 1024
_LEVELS = {
    "ddr_read_bytes": ("DDR, read", PALETTE[0]),
    "ddr_write_bytes": ("DDR, written", PALETTE[6]),
    "l2_bytes": ("L2", PALETTE[1]),
    "vtcm_bytes": ("VTCM", PALETTE[3]),
}


def traffic_figure(case: Mapping[str, Any]) -> Figure | None:
    """Return the figure: bars by level for each layer; None if no layer has bytes."""
    layers = case["layers"]
    sums = {key: sum(layer[key] for layer in layers) for key in _LEVELS}
    levels = [key for key in _LEVELS if sums[key]]
    if not levels:
        return None
    parts = [part for number, layer in enumerate(layers) for part in _parts(number, layer, levels)]
    totals = ", ".join(f"{_LEVELS[key][0]} {quantity(sums[key], 'B')}" for key in levels)
    return Figure(
        "Memory traffic",
        f"Bytes that a layer moves, by level of memory; all layers together: {totals}. Levels "
        "stand beside each other: what comes from DDR passes L2 as well. Layers whose cost model "
        "counts no bytes, those on the CPU above all, have no bar.",
        FigureTable(
            ("layer", "type", "engine", *(f"{_LEVELS[key][0]} KiB" for key in levels)),
            [
                (
                    *(layer[key] for key in ("name", "type", "engine")),
                    *(layer[key] / _KIB for key in levels),
                )
                for layer in layers
            ],
        ),
        layer_bars("KiB moved", parts, [("@what", "@amount{0,0.0} KiB")]),
        legend(parts, dict(_LEVELS[key] for key in levels)),
    )


def _parts(number: int, layer: Mapping[str, Any], levels: list[str]) -> list[BarPart]:
    """Return bars of a layer side by side; bytes written to DDR are stacked on those read."""
    bars = [key for key in levels if key != "ddr_write_bytes" or "ddr_read_bytes" not in levels]
    width = BAR / len(bars)
    parts = []
    for key in levels:
        kib = layer[key] / _KIB
        if not kib:
            continue
        is_above = key not in bars
        bottom = layer["ddr_read_bytes"] / _KIB if is_above else 0.0
        left = number - BAR / 2 + width * (0 if is_above else bars.index(key))
        label, colour = _LEVELS[key]
        place = (left, left + width, bottom, bottom + kib)
        parts.append(BarPart(layer["name"], label, kib, kib, *place, colour))
    return parts
