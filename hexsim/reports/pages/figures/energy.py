"""The energy of each layer, divided by what it is spent on, with its interval."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from hexsim.energy.estimate import PARTS
from hexsim.reports.pages.figures.chart import GREY, PALETTE, source
from hexsim.reports.pages.figures.figure import Figure, FigureTable
from hexsim.reports.pages.figures.layer_bars import layer_bars, legend, stacked

_COLOURS: dict[str, str] = dict(zip(PARTS, PALETTE, strict=False))


def energy_figure(case: Mapping[str, Any]) -> Figure:
    """Return the figure of a case: a bar per layer; the table also has all else."""
    energy = case["energy"]
    parts = [
        part
        for number, layer in enumerate(case["layers"])
        for part in stacked(number, layer["name"], layer["mj"], layer["parts_mj"].items(), _COLOURS)
    ]
    told = (("energy", "@whole{0.0000} mJ"), ("of it", "@what @amount{0.0000} mJ"))
    made = layer_bars("mJ", parts, told)
    _intervals(made, case)
    return Figure(
        "Energy",
        f"{energy['mj']:.3g} mJ for an inference, between {energy['mj_low']:.3g} and "
        f"{energy['mj_high']:.3g}: its constants are assumed, so it is for comparing. "
        f"{_largest(energy)} What is spent outside the layers is in the table.",
        _table(case),
        made,
        (*legend(parts, _COLOURS), (GREY, "interval: all constants at one end")),
    )


def _intervals(made: Any, case: Mapping[str, Any]) -> None:
    """A line through each bar from its lower to its upper end."""
    layers = case["layers"]
    columns = {
        "name": [layer["name"] for layer in layers],
        "number": list(range(len(layers))),
        "low": [layer["mj_low"] for layer in layers],
        "high": [layer["mj_high"] for layer in layers],
    }
    look = {"line_color": GREY, "line_alpha": "alpha", "line_width": 1.5}
    made.segment("number", "low", "number", "high", source=source(columns), **look)


def _largest(energy: Mapping[str, Any]) -> str:
    """What most of it is spent on."""
    parts = {part: one["mj"] for part, one in energy["parts_mj"].items()}
    if not parts or not energy["mj"]:
        return ""
    part = max(parts, key=lambda name: parts[name])
    return f"Most is {part}, {parts[part] / energy['mj']:.0%}."


def _table(case: Mapping[str, Any]) -> FigureTable:
    shown = tuple(part for part in PARTS if part in case["energy"]["parts_mj"])
    total = case["energy"]["mj"] or 1.0
    ends = ("mj", "mj_low", "mj_high")
    rows: list[tuple[Any, ...]] = [
        (
            layer["name"],
            layer["engine"],
            *(layer[end] for end in ends),
            layer["mj"] / total,
            *(layer["parts_mj"].get(part, 0.0) for part in shown),
        )
        for layer in case["layers"]
    ]
    rows += [
        (f"({one['name']})", None, *(one[end] for end in ends), one["mj"] / total)
        + (None,) * len(shown)
        for one in case["energy"]["overheads_mj"]
    ]
    rows.sort(key=lambda row: -row[2])
    header = ("layer", "engine", "mJ", "low", "high", "share", *shown)
    return FigureTable(header, rows)
