"""Layers in the order in which they run, each bar divided by the bounds of its time.

Overheads of the call are only in the table: the longest ones would make the bars of layers flat.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, get_args

from hexsim.reports.pages.figures.chart import PALETTE
from hexsim.reports.pages.figures.figure import Figure, FigureTable
from hexsim.reports.pages.figures.layer_bars import layer_bars, legend, stacked
from hexsim.timing.results import Bound

BOUNDS: tuple[str, ...] = get_args(Bound)
_COLOURS = dict(zip(BOUNDS, PALETTE, strict=False))
_OVERHEAD = "no layer"


def layer_times(case: Mapping[str, Any]) -> Figure:
    """Return the figure of a case: a bar per layer; the table also has the overheads."""
    parts = [
        part
        for number, layer in enumerate(case["layers"])
        for part in stacked(
            number,
            layer["name"],
            layer["us"],
            ((bound, us) for bound, us in layer["parts_us"].items() if us > 0),
            _COLOURS,
        )
    ]
    overheads_us = sum(case["overheads_us"].values())
    share = overheads_us / (case["total_inference_us"] or 1.0)
    return Figure(
        "Layers by time",
        "Each bar is a layer, in the order in which they run; its colours are what the layer's "
        f"time goes on. All else takes {overheads_us:.0f} us, {share:.1%} of the call; the table "
        "has its parts.",
        _table(case),
        layer_bars("us", parts, (("time", "@whole{0.0} us"), ("of it", "@what @amount{0.0} us"))),
        legend(parts, _COLOURS),
    )


def _table(case: Mapping[str, Any]) -> FigureTable:
    header = ("layer", "type", "engine", "us", "share", "bound", "MMAC", "DDR kB", "cost model")
    total = case["total_inference_us"] or 1.0
    rows: list[tuple[Any, ...]] = [
        (
            layer["name"],
            layer["type"],
            layer["engine"],
            layer["us"],
            layer["us"] / total,
            layer["bound"],
            layer["macs"] / 1e6,
            layer["ddr_bytes"] / 1024,
            layer["cost_model"],
        )
        for layer in case["layers"]
    ]
    overheads: list[tuple[Any, ...]] = [
        (f"({name})", _OVERHEAD, None, us, us / total, None, None, None, None)
        for name, us in case["overheads_us"].items()
    ]
    rows_by_time = [*rows, *overheads]
    rows_by_time.sort(key=lambda row: -row[3])
    return FigureTable(header, rows_by_time)
