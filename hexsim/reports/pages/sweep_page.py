"""The page of a sweep: its points over two figures, parallel coordinates, effects of parameters.

All points of the front are drawn, and an even selection of the others. The axes of parallel
coordinates go from the least to the greatest value; those of words are in alphabetical order.
"""

from collections.abc import Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from hexsim.errors import HexsimError
from hexsim.reports.colours import GREY, MAIN, MARKED
from hexsim.reports.pages.figures.chart import Cell, Chart, Figure, FigureTable
from hexsim.reports.pages.figures.times import share_bars
from hexsim.reports.pages.page import Heading, report
from hexsim.reports.studies import cell, spread_text
from hexsim.results.sweep import Effects, Sweep
from hexsim.texts.figures import figure

_MOST_DOTS, _MOST_LINES = 5000, 500
_FRONT, _OTHERS = MARKED, MAIN
_LEGEND = ((_FRONT, "nothing beats it"), (_OTHERS, "other points"))


def sweep_page(sweep: Sweep, command: str) -> str:
    """Return the page; HexsimError if its points are not there, as in one read from JSON."""
    if sweep.table is None:
        raise HexsimError("the page draws all points, which JSON has not; give the .parquet file")
    heading = Heading(
        "Sweep of a space of designs",
        "; ".join(filter(None, (f"swept by hexsim {sweep.version}", sweep.calibration))),
        command,
        (
            *((f"{name}, unbeaten", _best(sweep, name)) for name in sweep.figures[:2]),
            ("Points", f"{sweep.points}"),
            ("Parameters that vary", f"{len(sweep.varied)}"),
            ("Points that nothing beats", f"{len(sweep.front)}"),
        ),
        tuple(map(_effect_answer, sweep.effects)),
    )
    charts = [scatter_figure(sweep), lines_figure(sweep)]
    return report(heading, [*charts, *map(effects_figure, sweep.effects)])


def scatter_figure(sweep: Sweep) -> Figure:
    """Return the points over the first two figures, a single one over what matters most to it."""
    figures = sweep.figures
    across, up = (_most_important(sweep), figures[0]) if len(figures) == 1 else figures[:2]
    columns = {name: _numbers(sweep, name) for name in dict.fromkeys((across, up))}
    finite = [int(row) for row in np.flatnonzero(np.isfinite(list(columns.values())).all(axis=0))]
    rows = _drawable(sweep, finite)
    others, drawn = _some(finite, rows, _MOST_DOTS)
    plot = Chart(across, up, tooltip=(("", "{name}"), (across, "{x}"), (up, "{y}")))
    for selected, colour, size in ((others, _OTHERS, 5), (rows, _FRONT, 9)):
        marks: dict[str, Any] = {
            "name": [_name(sweep, row) for row in selected],
            "x": [float(columns[across][row]) for row in selected],
            "y": [float(columns[up][row]) for row in selected],
        }
        plot.draw("points", size=size, colour=colour, **marks)
    header = sweep.shown_columns
    cells: list[list[Cell]] = [[point[name] for name in header] for point in sweep.front]
    text = (
        f"{up} over {across}; {drawn} of {len(finite)} points are drawn. The table has those that "
        f"nothing beats in {', '.join(figures)}."
    )
    return Figure("Points", text, FigureTable(header, cells), plot, _LEGEND)


def _most_important(sweep: Sweep) -> str:
    """Return the parameter with numbers that matters most to the first figure; else the point."""
    names = [name for effects in sweep.effects[:1] for name in effects.alone]
    columns = {name: sweep.table[name].to_numpy(zero_copy_only=False) for name in names}
    return next((name for name in names if np.asarray(columns[name]).dtype.kind in "fiu"), "point")


def _best(sweep: Sweep, name: str) -> str:
    """Return the values of a figure at points that nothing beats, or the ends of their range."""
    values = sorted(float(point[name]) for point in sweep.front)
    return " .. ".join(dict.fromkeys(figure(value) for value in (values[0], values[-1])))


def lines_figure(sweep: Sweep) -> Figure:
    """Return parallel coordinates: a line per point over the varied parameters and the figures."""
    axes = tuple(dict.fromkeys((*sweep.varied, *sweep.figures)))
    scaled = {name: _scaled(sweep, name) for name in axes}
    heights = np.stack([scaled[name][0] for name in axes], axis=1)
    finite = [int(row) for row in np.flatnonzero(np.isfinite(heights).all(axis=1))]
    rows = _drawable(sweep, finite)
    others, drawn = _some(finite, rows, _MOST_LINES)
    tooltip = (("", "{name}"),)
    plot = Chart("", "", 460, tooltip=tooltip, ticks=(False, False), y=(-0.12, 1.12), columns=axes)
    for selected, colour, width in ((others, _OTHERS, 1), (rows, _FRONT, 2.5)):
        marks: dict[str, Any] = {
            "name": [_name(sweep, row) for row in selected],
            "xs": list(range(len(axes))),
            "ys": [[round(float(height), 4) for height in heights[row]] for row in selected],
        }
        plot.draw("lines", colour=colour, width=width, **marks)
    for axis, name in enumerate(axes):
        plot.draw("line", x=[axis, axis], y=[0, 1], colour=GREY)
        labels = {"y": [-0.06, 1.06], "text": list(scaled[name][1])}
        plot.draw("texts", x=axis, align="center", colour="", **labels)
    table = FigureTable(("axis", "lowest", "highest"), [(name, *scaled[name][1]) for name in axes])
    text = f"Each line is a point, {drawn} of {len(finite)} are drawn; each axis has its own scale."
    return Figure("Parallel coordinates", text, table, plot, _LEGEND)


def _effect_answer(effects: Effects) -> str:
    if not effects.alone:
        return f"{effects.figure} is the same at all points."
    name, part = next(iter(effects.alone.items()))
    return f"{name} matters most to {effects.figure}: {part:.0%} of its variance."


def effects_figure(effects: Effects) -> Figure:
    """Return the part of a figure's variance due to each parameter, and to pairs."""
    pairs = {" with ".join(pair.parameters): pair.part for pair in effects.together}
    parts = {**effects.alone, **pairs}
    text = f"{spread_text(effects).capitalize()}; parts are those of the logarithm."
    table = FigureTable(("parameter", "part of its variance"), list(parts.items()))
    alone = dict(effects.alone)
    if not alone:
        return Figure(f"What matters to {effects.figure}", "The same at all points.", table)
    plot = share_bars("part of the variance", "part", alone)
    return Figure(f"What matters to {effects.figure}", text, table, plot)


def _drawable(sweep: Sweep, finite: Sequence[int]) -> list[int]:
    """Return the rows of the front that have all figures to be drawn."""
    have = set(finite)
    return [row for row in sweep.front_rows if row in have]


def _some(finite: Sequence[int], rows: Sequence[int], most: int) -> tuple[list[int], int]:
    """Return an even selection of the rows not on the front, and the count of all drawn rows."""
    front = set(rows)
    others = [row for row in finite if row not in front]
    selected = others[:: max(1, -(-len(others) // most))]
    return selected, len(selected) + len(front)


def _name(sweep: Sweep, row: int) -> str:
    point = sweep.table.slice(row, 1)
    values = ", ".join(f"{name} {cell(point[name][0].as_py())}" for name in sweep.varied)
    return f"point {point['point'][0].as_py()}: {values}"


def _scaled(sweep: Sweep, name: str) -> tuple[Any, tuple[str, str]]:
    """Return a column scaled to 0 .. 1, and the labels of its ends."""
    column = sweep.table[name].to_numpy(zero_copy_only=False)
    if column.dtype == object:
        words, values = np.unique(column.astype(str), return_inverse=True)
        labels = (str(words[0]), str(words[-1]))
    else:
        values = np.asarray(column, np.float64)
        finite = values[np.isfinite(values)]
        labels = (cell(float(finite.min())), cell(float(finite.max())))
    heights = np.asarray(values, np.float64)
    low, high = np.nanmin(heights), np.nanmax(heights)
    return (heights - low) / ((high - low) or 1.0), labels


def _numbers(sweep: Sweep, name: str) -> npt.NDArray[np.float64]:
    """Return a column of numbers; NaN where a point was refused."""
    return np.asarray(sweep.table[name].to_numpy(zero_copy_only=False), np.float64)
