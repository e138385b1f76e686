"""Layers in the order in which they run, each bar divided by what its time goes on.

Parts of the call that are no layer are in the table alone: the longest would make layers flat.
"""

from __future__ import annotations

from collections.abc import Mapping
from itertools import accumulate
from typing import Any, get_args

from hexsim.reports.pages.figures.chart import PALETTE, chart, source
from hexsim.reports.pages.figures.figure import Figure, Table
from hexsim.timing.results import Bound

BOUNDS: tuple[str, ...] = get_args(Bound)
_COLOURS = dict(zip(BOUNDS, PALETTE, strict=False))
_OVERHEAD = "no layer"
_WIDTH = 0.8


def layer_times(case: Mapping[str, Any]) -> Figure:
    """Return the figure of a case: a bar per layer; the table also has what is no layer."""
    bars = _bars(case)
    others = sum(case["overheads_us"].values())
    share = others / (case["total_inference_us"] or 1.0)
    columns: dict[str, list[Any]] = {
        key: [bar[key] for bar in bars]
        for key in ("name", "what", "part_us", "us", "left", "right", "bottom", "top", "colour")
    }
    told = (("", "@name"), ("time", "@us{0.0} us"), ("of it", "@what @part_us{0.0} us"))
    made = chart("layers, in the order in which they run", "us", told=told)
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
    seen = {bar["what"] for bar in bars}
    legend = tuple((colour, bound) for bound, colour in _COLOURS.items() if bound in seen)
    return Figure(
        "Layers by time",
        "Each bar is a layer, in the order in which they run; its colours are what the layer's "
        f"time goes on. What is no layer takes {others:.0f} us, {share:.1%} of the call; the table "
        "has its parts.",
        _table(case),
        made,
        legend,
    )


def _bars(case: Mapping[str, Any]) -> list[dict[str, Any]]:
    """The parts of all bars, from the left to the right and from the bottom up."""
    bars: list[dict[str, Any]] = []
    for number, layer in enumerate(case["layers"]):
        parts = [(bound, us) for bound, us in layer["parts_us"].items() if us > 0]
        for (bound, us), top in zip(parts, accumulate(us for _, us in parts), strict=True):
            bars.append(
                {
                    "name": layer["name"],
                    "what": bound,
                    "part_us": us,
                    "us": layer["us"],
                    "left": number - _WIDTH / 2,
                    "right": number + _WIDTH / 2,
                    "bottom": top - us,
                    "top": top,
                    "colour": _COLOURS[bound],
                }
            )
    return bars


def _table(case: Mapping[str, Any]) -> Table:
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
    others: list[tuple[Any, ...]] = [
        (f"({name})", _OVERHEAD, None, us, us / total, None, None, None, None)
        for name, us in case["overheads_us"].items()
    ]
    every = [*rows, *others]
    every.sort(key=lambda row: -row[3])
    return Table(header, every)
