"""The energy of each layer, divided by what it is spent on, with its interval."""

from __future__ import annotations

from collections.abc import Mapping
from itertools import accumulate
from typing import Any

from hexsim.energy.estimate import PARTS
from hexsim.reports.pages.figures.chart import GREY, PALETTE, chart, source
from hexsim.reports.pages.figures.figure import Figure, Table

_COLOURS = dict(zip(PARTS, PALETTE, strict=False))
_WIDTH = 0.8


def energy_figure(case: Mapping[str, Any]) -> Figure:
    """Return the figure of a case: a bar per layer; the table also has what is no layer."""
    energy = case["energy"]
    made = chart(
        "layers, in the order in which they run",
        "mJ",
        told=(("", "@name"), ("energy", "@mj{0.0000} mJ"), ("of it", "@what @part_mj{0.0000} mJ")),
    )
    bars = _bars(case)
    keys = ("name", "what", "part_mj", "mj", "left", "right", "bottom", "top", "colour")
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
    _intervals(made, case)
    made.xaxis.ticker.min_interval = 1
    made.y_range.start = 0
    seen = {bar["what"] for bar in bars}
    legend = [(colour, part) for part, colour in _COLOURS.items() if part in seen]
    return Figure(
        "Energy",
        f"{energy['mj']:.3g} mJ for an inference, between {energy['mj_low']:.3g} and "
        f"{energy['mj_high']:.3g}: its constants are assumed, so it is for comparing. "
        f"{_largest(energy)} What is no layer is in the table.",
        _table(case),
        made,
        (*legend, (GREY, "interval: all constants at one end")),
    )


def _bars(case: Mapping[str, Any]) -> list[dict[str, Any]]:
    """The parts of all bars, from the left to the right and from the bottom up."""
    bars: list[dict[str, Any]] = []
    for number, layer in enumerate(case["layers"]):
        parts = layer["parts_mj"].items()
        for (part, mj), top in zip(parts, accumulate(mj for _, mj in parts), strict=True):
            bars.append(
                {
                    "name": layer["name"],
                    "what": part,
                    "part_mj": mj,
                    "mj": layer["mj"],
                    "left": number - _WIDTH / 2,
                    "right": number + _WIDTH / 2,
                    "bottom": top - mj,
                    "top": top,
                    "colour": _COLOURS[part],
                }
            )
    return bars


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


def _table(case: Mapping[str, Any]) -> Table:
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
    return Table(header, rows)
