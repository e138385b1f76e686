"""The energy of each layer, divided into its parts, with its interval."""

from collections.abc import Sequence
from typing import Any

from hexsim.energy.estimate import PARTS
from hexsim.reports.colours import ENERGY
from hexsim.reports.pages.figures.chart import inked, source
from hexsim.reports.pages.figures.figure import Figure, FigureTable
from hexsim.reports.pages.figures.layer_bars import (
    label,
    layer_bars,
    legend,
    longest,
    not_drawn,
    stacked,
)
from hexsim.results.benchmark import Inference
from hexsim.results.costs import EnergyUse, LayerCost
from hexsim.texts.figures import figure


def energy_figure(case: Inference) -> Figure:
    """Return the figure of a case: a bar per layer; the table also has the overheads."""
    energy, layers = case.energy, {layer.name: layer for layer in case.layers}
    rows = longest((name, layer.parts_mj) for name, layer in layers.items())
    names = [name for name, _ in rows]
    parts = [part for row, (name, mj) in enumerate(rows) for part in stacked(row, name, mj, ENERGY)]
    tooltip = (("energy", "@whole{0.0000} mJ"), ("of it", "@what @amount{0.0000} mJ"))
    plot = layer_bars("mJ", names, parts, tooltip)
    _intervals(plot, [layers[name] for name in names if name in layers])
    return Figure(
        "Energy",
        f"{figure(energy.mj)} mJ for an inference, between {figure(energy.mj_low)} and "
        f"{figure(energy.mj_high)}: its constants are assumed, so it is for comparing. "
        f"{_largest(energy)}{not_drawn(len(layers))} What is spent outside the layers is in the "
        "table.",
        _table(case),
        plot,
        (*legend(parts, ENERGY), ("", "line: all constants at one end of their intervals")),
    )


def _intervals(plot: Any, layers: Sequence[LayerCost]) -> None:
    """Draw a line for each bar from the lower to the upper bound of its energy."""
    columns: dict[str, list[Any]] = {
        "name": [layer.name for layer in layers],
        "row": [-row for row in range(len(layers))],
        "low": [layer.mj_low for layer in layers],
        "high": [layer.mj_high for layer in layers],
    }
    style = {"line_alpha": "alpha", "line_width": 1.5}
    inked(plot.segment("low", "row", "high", "row", source=source(columns), **style))


def _largest(energy: EnergyUse) -> str:
    """Return a sentence on the largest part of the energy."""
    parts = {part: estimate.mj for part, estimate in energy.parts_mj.items()}
    if not parts or not energy.mj:
        return ""
    part = max(parts, key=lambda name: parts[name])
    return f"Most is {label(part)}, {parts[part] / energy.mj:.0%}."


def _table(case: Inference) -> FigureTable:
    parts = tuple(part for part in PARTS if part in case.energy.parts_mj)
    total = case.energy.mj or 1.0
    rows: list[tuple[Any, ...]] = [
        (
            layer.name,
            layer.engine,
            *(layer.mj, layer.mj_low, layer.mj_high),
            layer.mj / total,
            *(layer.parts_mj.get(part, 0.0) for part in parts),
        )
        for layer in case.layers
    ]
    rows += [
        (
            f"({overhead.name})",
            None,
            *(overhead.mj, overhead.mj_low, overhead.mj_high),
            overhead.mj / total,
        )
        + (None,) * len(parts)
        for overhead in case.overheads
    ]
    rows.sort(key=lambda row: -row[2])
    header = ("layer", "engine", "mJ", "low", "high", "share", *parts)
    return FigureTable(header, rows)
