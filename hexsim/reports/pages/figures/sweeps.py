"""A sweep as figures: its points by two figures, each point as a line over all axes, what matters.

Of many points some are drawn, evenly chosen; those of the front all are. Axes of the lines go from
their least to their greatest value, those of words in alphabetical order.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from hexsim.reports.pages.figures.chart import GREY, PALETTE, chart, source
from hexsim.reports.pages.figures.figure import Cell, Figure, FigureTable
from hexsim.reports.sweep_table import spread_text
from hexsim.studies.sweep.effects import Effects
from hexsim.studies.sweep.front import numbers
from hexsim.studies.sweep.table import Swept

_MOST_DOTS, _MOST_LINES = 5000, 500
_SLANT = -0.35
"""Radians of the names under the axes, so that long ones pass each other."""
_FRONT, _OTHERS = PALETTE[1], PALETTE[0]
_LEGEND = ((_FRONT, "nothing beats it"), (_OTHERS, "other points"))


def scatter_figure(swept: Swept, rows: Sequence[int], figures: Sequence[str]) -> Figure:
    """Return all points by the first two figures (or by number and the only one)."""
    across, up = ("point", figures[0]) if len(figures) == 1 else figures[:2]
    columns = {name: numbers(swept, name) for name in dict.fromkeys((across, up))}
    known = [int(row) for row in np.flatnonzero(np.isfinite(list(columns.values())).all(axis=0))]
    others, drawn = _some(known, rows, _MOST_DOTS)
    told = (("", "@name"), (across, "@x"), (up, "@y"))
    made = chart(across, up, told=told)
    for taken, colour, size in ((others, _OTHERS, 5), (rows, _FRONT, 9)):
        marks: dict[str, Any] = {
            "name": [_name(swept, row) for row in taken],
            "x": [float(columns[across][row]) for row in taken],
            "y": [float(columns[up][row]) for row in taken],
        }
        look: dict[str, Any] = {"color": colour, "fill_alpha": "alpha", "line_alpha": "alpha"}
        made.scatter("x", "y", size=size, source=source(marks), **look)
    header = tuple(dict.fromkeys(("point", *swept.varied, *figures)))
    picked = swept.table.take(list(rows)).select(list(header)).to_pylist()
    cells: list[list[Cell]] = [[one[name] for name in header] for one in picked]
    text = (
        f"{up} over {across}; {drawn} of {len(known)} points are drawn. The table has the "
        f"{len(rows)} that nothing beats in {', '.join(figures)}."
    )
    return Figure("Points", text, FigureTable(header, cells), made, _LEGEND)


def lines_figure(swept: Swept, rows: Sequence[int], figures: Sequence[str]) -> Figure:
    """Return parallel coordinates: a line for each point over what varies and the figures."""
    axes = tuple(dict.fromkeys((*swept.varied, *figures)))
    scaled = {name: _scaled(swept, name) for name in axes}
    heights = np.stack([scaled[name][0] for name in axes], axis=1)
    known = [int(row) for row in np.flatnonzero(np.isfinite(heights).all(axis=1))]
    others, drawn = _some(known, rows, _MOST_LINES)
    made = chart("", "", height=420, told=(("", "@name"),), y_range=(-0.08, 1.08))
    for taken, colour, width in ((others, _OTHERS, 1), (rows, _FRONT, 2.5)):
        marks: dict[str, Any] = {
            "name": [_name(swept, row) for row in taken],
            "xs": [list(range(len(axes)))] * len(taken),
            "ys": [[float(height) for height in heights[row]] for row in taken],
        }
        made.multi_line(
            "xs", "ys", color=colour, line_width=width, line_alpha="alpha", source=source(marks)
        )
    ends: dict[str, Any] = {
        "x": [at for at in range(len(axes)) for _ in range(2)],
        "y": [height for _ in axes for height in (-0.06, 1.03)],
        "text": [end for name in axes for end in scaled[name][1]],
    }
    look = {"text_align": "center", "text_font_size": "11px", "text_color": GREY}
    made.text("x", "y", text="text", source=source(ends), **look)
    made.xaxis.ticker = list(range(len(axes)))
    made.xaxis.major_label_overrides = dict(enumerate(axes))
    made.xaxis.major_label_orientation = _SLANT
    made.yaxis.visible = False
    table = FigureTable(("axis", "lowest", "highest"), [(name, *scaled[name][1]) for name in axes])
    text = f"Each line is a point, {drawn} of {len(known)} are drawn; each axis has its own scale."
    return Figure("Parallel coordinates", text, table, made, _LEGEND)


def effects_figure(found: Effects) -> Figure:
    """Return the part of a figure's variance that goes with each parameter, and with pairs."""
    pairs = {f"{one} with {other}": part for (one, other), part in found.together.items()}
    parts = {**found.alone, **pairs}
    text = f"{spread_text(found).capitalize()}; parts are those of the logarithm."
    table = FigureTable(("parameter", "part of its variance"), list(parts.items()))
    shown = dict(found.alone)
    if not shown:
        return Figure(f"What matters to {found.result}", "The same at all points.", table)
    made = chart(
        "part of the variance",
        "",
        height=30 * len(shown) + 90,
        told=(("", "@name"), ("part", "@share{0.0%}")),
        x_range=(0, 1),
        y_range=list(reversed(shown)),
    )
    columns: dict[str, Any] = {"name": list(shown), "share": list(shown.values())}
    look: dict[str, Any] = {"color": PALETTE[6], "fill_alpha": "alpha", "line_alpha": "alpha"}
    made.hbar(y="name", right="share", height=0.6, source=source(columns), **look)
    return Figure(f"What matters to {found.result}", text, table, made)


def _some(known: Sequence[int], rows: Sequence[int], most: int) -> tuple[list[int], int]:
    """Evenly chosen rows beside those of the front, and how many are drawn altogether."""
    front = set(rows)
    others = [row for row in known if row not in front]
    kept = others[:: max(1, -(-len(others) // most))]
    return kept, len(kept) + len(front)


def _name(swept: Swept, row: int) -> str:
    one = swept.table.slice(row, 1)
    told = ", ".join(f"{name} {_cell(one[name][0].as_py())}" for name in swept.varied)
    return f"point {one['point'][0].as_py()}: {told}"


def _scaled(swept: Swept, name: str) -> tuple[Any, tuple[str, str]]:
    """A column from 0 to 1, and what stands at its ends."""
    column = swept.table[name].to_numpy(zero_copy_only=False)
    if column.dtype == object:
        words, values = np.unique(column.astype(str), return_inverse=True)
        ends = (str(words[0]), str(words[-1]))
    else:
        values = np.asarray(column, np.float64)
        finite = values[np.isfinite(values)]
        ends = (_cell(float(finite.min())), _cell(float(finite.max())))
    heights = np.asarray(values, np.float64)
    low, high = np.nanmin(heights), np.nanmax(heights)
    return (heights - low) / ((high - low) or 1.0), ends


def _cell(value: object) -> str:
    return f"{value:.6g}" if isinstance(value, float) else str(value)
