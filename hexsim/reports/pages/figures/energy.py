"""The energy of each layer, divided into its parts, with its interval."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from hexsim.energy.estimate import PARTS
from hexsim.reports.pages.figures.chart import GREY, PALETTE, source
from hexsim.reports.pages.figures.figure import Figure, FigureTable
from hexsim.reports.pages.figures.layer_bars import layer_bars, legend, stacked

_COLOURS: dict[str, str] = dict(zip(PARTS, PALETTE, strict=False))


def energy_figure(case: Mapping[str, Any]) -> Figure:
    """Return the figure of a case: a bar per layer; the table also has the overheads."""
    energy = case["energy"]
    parts = [
        part
        for number, layer in enumerate(case["layers"])
        for part in stacked(number, layer["name"], layer["mj"], layer["parts_mj"].items(), _COLOURS)
    ]
    tooltip = (("energy", "@whole{0.0000} mJ"), ("of it", "@what @amount{0.0000} mJ"))
    plot = layer_bars("mJ", parts, tooltip)
    _intervals(plot, case)
    return Figure(
        "Energy",
        f"{energy['mj']:.3g} mJ for an inference, between {energy['mj_low']:.3g} and "
        f"{energy['mj_high']:.3g}: its constants are assumed, so it is for comparing. "
        f"{_largest(energy)} What is spent outside the layers is in the table.",
        _table(case),
        plot,
        (*legend(parts, _COLOURS), (GREY, "interval: all constants at one end")),
    )


def _intervals(plot: Any, case: Mapping[str, Any]) -> None:
    """Draw a line for each bar from the lower to the upper bound of its energy."""
    layers = case["layers"]
    columns = {
        "name": [layer["name"] for layer in layers],
        "number": list(range(len(layers))),
        "low": [layer["mj_low"] for layer in layers],
        "high": [layer["mj_high"] for layer in layers],
    }
    style = {"line_color": GREY, "line_alpha": "alpha", "line_width": 1.5}
    plot.segment("number", "low", "number", "high", source=source(columns), **style)


def _largest(energy: Mapping[str, Any]) -> str:
    """Return a sentence on the largest part of the energy."""
    parts = {part: estimate["mj"] for part, estimate in energy["parts_mj"].items()}
    if not parts or not energy["mj"]:
        return ""
    part = max(parts, key=lambda name: parts[name])
    return f"Most is {part}, {parts[part] / energy['mj']:.0%}."


def _table(case: Mapping[str, Any]) -> FigureTable:
    parts = tuple(part for part in PARTS if part in case["energy"]["parts_mj"])
    total = case["energy"]["mj"] or 1.0
    bounds = ("mj", "mj_low", "mj_high")
    rows: list[tuple[Any, ...]] = [
        (
            layer["name"],
            layer["engine"],
            *(layer[bound] for bound in bounds),
            layer["mj"] / total,
            *(layer["parts_mj"].get(part, 0.0) for part in parts),
        )
        for layer in case["layers"]
    ]
    rows += [
        (
            f"({overhead['name']})",
            None,
            *(overhead[bound] for bound in bounds),
            overhead["mj"] / total,
        )
        + (None,) * len(parts)
        for overhead in case["energy"]["overheads_mj"]
    ]
    rows.sort(key=lambda row: -row[2])
    header = ("layer", "engine", "mJ", "low", "high", "share", *parts)
    return FigureTable(header, rows)
