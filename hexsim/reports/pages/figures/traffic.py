"""The bytes that each layer moves, by level of memory.

Bytes of DDR pass through L2 as well, so levels stand beside each other and are never added up.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from hexsim.reports.pages.figures.chart import PALETTE, chart, source
from hexsim.reports.pages.figures.figure import Figure, Table
from hexsim.reports.text import quantity

_KIB = 1024
_LEVELS = {
    "ddr_read_bytes": ("DDR, read", PALETTE[0]),
    "ddr_write_bytes": ("DDR, written", PALETTE[6]),
    "l2_bytes": ("L2", PALETTE[1]),
    "vtcm_bytes": ("VTCM", PALETTE[3]),
}
_WIDTH = 0.8


def traffic_figure(case: Mapping[str, Any]) -> Figure | None:
    """Return the figure of a case, bars by level for each layer; None if nothing is counted."""
    layers = case["layers"]
    sums = {key: sum(layer[key] for layer in layers) for key in _LEVELS}
    shown = [key for key in _LEVELS if sums[key]]
    if not shown:
        return None
    made = chart(
        "layers, in the order in which they run",
        "KiB moved",
        told=(("", "@name"), ("@level", "@kib{0,0.0} KiB")),
    )
    bars = [bar for number, layer in enumerate(layers) for bar in _bars(number, layer, shown)]
    keys = ("name", "level", "kib", "left", "right", "bottom", "top", "colour")
    columns: dict[str, list[Any]] = {key: [bar[key] for bar in bars] for key in keys}
    made.quad(
        left="left",
        right="right",
        bottom="bottom",
        top="top",
        fill_color="colour",
        line_color=None,
        fill_alpha="alpha",
        source=source(columns),
    )
    made.xaxis.ticker.min_interval = 1
    made.y_range.start = 0
    told = ", ".join(f"{_LEVELS[key][0]} {quantity(sums[key], 'B')}" for key in shown)
    return Figure(
        "Memory traffic",
        f"Bytes that a layer moves, by level of memory; all layers together: {told}. Levels stand "
        "beside each other: what comes from DDR passes L2 as well. Layers whose cost model counts "
        "no bytes, those on the CPU above all, have no bar.",
        Table(
            ("layer", "type", "engine", *(f"{_LEVELS[key][0]} KiB" for key in shown)),
            [
                (
                    *(layer[key] for key in ("name", "type", "engine")),
                    *(layer[key] / _KIB for key in shown),
                )
                for layer in layers
            ],
        ),
        made,
        tuple((colour, name) for name, colour in (_LEVELS[key] for key in shown)),
    )


def _bars(number: int, layer: Mapping[str, Any], shown: list[str]) -> list[dict[str, Any]]:
    """What a layer moves: written bytes of DDR stand on those that are read."""
    slots = [key for key in shown if key != "ddr_write_bytes" or "ddr_read_bytes" not in shown]
    width = _WIDTH / len(slots)
    bars = []
    for key in shown:
        if not layer[key]:
            continue
        is_above = key not in slots
        slot = 0 if is_above else slots.index(key)
        bottom = layer["ddr_read_bytes"] / _KIB if is_above else 0.0
        left = number - _WIDTH / 2 + width * slot
        bars.append(
            {
                "name": layer["name"],
                "level": _LEVELS[key][0],
                "kib": layer[key] / _KIB,
                "left": left,
                "right": left + width,
                "bottom": bottom,
                "top": bottom + layer[key] / _KIB,
                "colour": _LEVELS[key][1],
            }
        )
    return bars
