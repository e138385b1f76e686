"""The layers that take most time, each bar divided by the bounds of its time.

Overheads of the call are only in the table: the longest ones would make the bars of layers short.
"""

from typing import Any

from hexsim.reports.colours import BOUNDS
from hexsim.reports.pages.figures.figure import Figure, FigureTable
from hexsim.reports.pages.figures.layer_bars import layer_bars, legend, longest, not_drawn, stacked
from hexsim.results.benchmark import Inference
from hexsim.texts.figures import figure

_OVERHEAD = "no layer"


def layer_times(case: Inference) -> Figure:
    """Return the figure of a case: a bar per layer; the table also has the overheads."""
    rows = longest((layer.name, layer.parts_us) for layer in case.layers)
    parts = [part for row, (name, us) in enumerate(rows) for part in stacked(row, name, us, BOUNDS)]
    overheads_us = sum(part.us for part in case.overheads)
    share = overheads_us / (case.total_inference_us or 1.0)
    tooltip = (("time", "@whole{0.0} us"), ("of it", "@what @amount{0.0} us"))
    return Figure(
        "Layers by time",
        "Each bar is a layer, the longest first; its colours show what its time is spent on."
        f"{not_drawn(len(case.layers))} All else takes {figure(overheads_us)} us, {share:.0%} "
        "of the call; the table has its parts.",
        _table(case),
        layer_bars("us", [name for name, _ in rows], parts, tooltip),
        legend(parts, BOUNDS),
    )


def _table(case: Inference) -> FigureTable:
    header = ("layer", "type", "engine", "us", "share", "bound", "MMAC", "DDR KiB", "cost model")
    total = case.total_inference_us or 1.0
    rows: list[tuple[Any, ...]] = [
        (
            *(layer.name, layer.type, layer.engine, layer.us),
            *(layer.us / total, layer.bound, layer.macs / 1e6),
            *(layer.ddr_bytes / 1024, layer.cost_model),
        )
        for layer in case.layers
    ]
    overheads: list[tuple[Any, ...]] = [
        (f"({part.name})", _OVERHEAD, None, part.us, part.us / total, None, None, None, None)
        for part in case.overheads
    ]
    rows_by_time = [*rows, *overheads]
    rows_by_time.sort(key=lambda row: -row[3])
    return FigureTable(header, rows_by_time)
