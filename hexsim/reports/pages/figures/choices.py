"""The choices of a decision: time beside accuracy, and what stands in front."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from hexsim.reports.pages.figures.chart import PALETTE, chart, source
from hexsim.reports.pages.figures.figure import Figure, Table

_SHAPES = ("circle", "square", "triangle", "diamond", "hex", "star")
"""A shape for each runtime; a colour is a chip's."""
_COLUMNS = {
    "rank": "rank",
    "mode": "mode",
    "chip": "chip",
    "runtime": "runtime",
    "cut": "cut",
    "total_inference_us": "ms",
    "peak_bytes": "peak MiB",
    "energy_mj": "mJ",
    "loss_points": "points lost",
    "sqnr_db": "SQNR dB",
    "in_front": "front",
}
_SCALE = {"total_inference_us": 1e-3, "peak_bytes": 2.0**-20}


def choices_figure(facts: Mapping[str, Any]) -> Figure:
    """Return the figure of what `hexsim decide --json` has: a mark for each choice."""
    choices = facts["choices"]
    chips = list(dict.fromkeys(one["chip"] for one in choices))
    runtimes = list(dict.fromkeys(one["runtime"] for one in choices))
    noisy = [one for one in choices if one["sqnr_db"] is not None]
    made = chart(
        "ms, total inference",
        "dB, SQNR against float",
        height=420,
        told=(("", "@name"), ("total inference", "@ms{0.000} ms"), ("SQNR", "@db{0.0} dB")),
        x_axis_type="log",
    )
    for runtime, shape in zip(runtimes, _SHAPES, strict=False):
        placed = [one for one in noisy if one["runtime"] == runtime]
        if placed:
            colours = [PALETTE[chips.index(one["chip"]) % len(PALETTE)] for one in placed]
            columns = {
                "name": [f"{one['mode']} on {one['chip']} {runtime}" for one in placed],
                "ms": [one["total_inference_us"] / 1e3 for one in placed],
                "db": [one["sqnr_db"] for one in placed],
                "size": [14 if one["in_front"] else 8 for one in placed],
                "colour": colours,
            }
            look = {"color": "colour", "fill_alpha": "alpha", "line_alpha": "alpha"}
            marks = source(columns)
            made.scatter("ms", "db", size="size", marker=shape, source=marks, **look)
    named = zip(chips, PALETTE, strict=False)
    shapes = ", ".join(f"{s} {r}" for r, s in zip(runtimes, _SHAPES, strict=False))
    return Figure(
        "Choices",
        f"Every choice within the limits. Colours are chips, shapes are runtimes ({shapes}). Large "
        "marks are in front: no other is at least as good in time, memory, energy and accuracy. "
        "Those that answer exactly as float have no place on this scale: see the table.",
        _table(choices),
        made,
        tuple((colour, chip) for chip, colour in named),
    )


def _table(choices: Sequence[Mapping[str, Any]]) -> Table:
    rows = [
        tuple(
            one[key] if one[key] is None or key not in _SCALE else one[key] * _SCALE[key]
            for key in _COLUMNS
        )
        for one in choices
    ]
    return Table(tuple(_COLUMNS.values()), rows)
