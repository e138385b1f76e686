"""The roofline of a page as a picture: PNG or SVG, drawn by matplotlib.

The layers that lose most time are numbered, and named beside the chart.

By default matplotlib writes a list of fonts into the home of the user and reads settings for
pictures from there and from the current folder. Pictures of hexsim look the same everywhere, and
hexsim writes nothing but its outputs and its own caches.
"""

from __future__ import annotations

import io
import math
import os
from collections.abc import Sequence
from importlib import import_module
from pathlib import Path
from types import ModuleType
from typing import TYPE_CHECKING, Any, Literal

from hexsim.errors import HexsimError
from hexsim.files.private import private_folder
from hexsim.isolation import own_folder
from hexsim.reports.pages.figures.chart import Chart
from hexsim.reports.pages.figures.costs import roofline_figure
from hexsim.reports.roofline import left_out
from hexsim.reports.text import short_name
from hexsim.results.benchmark import Inference
from hexsim.results.roofline import Roofline, RooflinePoint
from hexsim.texts.extras import missing
from hexsim.texts.figures import figure

if TYPE_CHECKING:
    from matplotlib.axes import Axes

_PLACE = "MPLCONFIGDIR"
"""The environment variable that names the folder; else matplotlib uses a temporary one."""


def load_matplotlib() -> ModuleType:
    """Return the module matplotlib; HexsimError if it is not installed."""
    if _PLACE not in os.environ and (folder := private_folder("matplotlib")):
        os.environ[_PLACE] = str(folder)
    try:
        with own_folder("matplotlib"):
            for part in ("figure", "ticker"):
                import_module(f"matplotlib.{part}")
        return import_module("matplotlib")
    except ImportError:
        raise missing("drawing needs matplotlib, which is not installed", "report") from None


Format = Literal["png", "svg"]

_NAMED = 10
"""The number of layers that are numbered and named."""
_LETTERS = 34
"""The most characters of a name."""
_CLEAR = 15
"""A distance in typographic points from a number to other marks that is enough."""
_INK = "#333333"
_POINTS = 0.75
"""Typographic points in a px of a page."""


def picture_format(path: Path) -> Format:
    """Return the format by the file's suffix; HexsimError if it is neither PNG nor SVG."""
    match path.suffix.lower():
        case ".png":
            return "png"
        case ".svg":
            return "svg"
    raise HexsimError(f"cannot draw '{path}': its name must end in .png or .svg")


def picture(case: Inference, roofline: Roofline, kind: Format) -> bytes:
    """Draw the roofline of a case; equal rooflines give equal bytes."""
    matplotlib = load_matplotlib()
    sheet = matplotlib.figure.Figure(figsize=(12.5, 6.6), dpi=150, layout="constrained")
    axes, names = sheet.subplots(1, 2, width_ratios=(2.6, 1))
    drawn = roofline_figure(roofline)
    assert drawn.chart is not None
    _draw(axes, drawn.chart, drawn.legend)
    axes.set_title(
        f"{case.network} on {case.chip} {case.runtime}\n{case.software}, {case.perf_profile}",
        loc="left",
        fontsize=11,
    )
    _list_names(names, roofline)
    sheet.draw_without_rendering()  # settles where the axes are, on which the numbers depend
    _draw_numbers(axes, roofline.points)
    data = io.BytesIO()
    metadata = {"Date": None} if kind == "svg" else {"Software": None}
    with matplotlib.rc_context({"svg.hashsalt": "hexsim", "svg.fonttype": "none"}):
        sheet.savefig(data, format=kind, metadata=metadata)
    return data.getvalue()


def _draw(axes: Axes, plot: Chart, legend: Sequence[tuple[str, ...]]) -> None:
    """Draw a chart of lines, segments and round points on logarithmic axes."""
    axes.set(xscale="log", yscale="log", ylim=plot.y, xlabel=plot.across, ylabel=plot.up)
    axes.spines[["top", "right"]].set_visible(False)
    axes.grid(True, color="#eeeeee", linewidth=0.8)
    axes.set_axisbelow(True)
    for axis in (axes.xaxis, axes.yaxis):
        axis.set_major_formatter(lambda value, _: f"{value:g}")
        axis.set_minor_formatter(load_matplotlib().ticker.NullFormatter())
    for mark in plot.marks:
        if mark["kind"] == "points":
            areas = [(size * _POINTS) ** 2 for size in mark["size"]]
            style: dict[str, Any] = {
                "s": areas,
                "alpha": 0.75,
                "edgecolors": "white",
                "linewidths": 0.7,
            }
            axes.scatter(mark["x"], mark["y"], color=mark["colour"], zorder=3, **style)
            continue
        line = {"color": mark["colour"], "linewidth": mark["width"] * _POINTS}
        if mark["kind"] == "line":
            axes.plot(mark["x"], mark["y"], dashes=mark.get("dash") or (None, None), **line)
        elif mark["x0"]:
            axes.plot([mark["x0"], mark["x1"]], [mark["y0"], mark["y1"]], **line)
    for colour, meaning, *shape in legend:
        axes.plot([], [], "o" if shape else "-", color=colour, label=meaning)
    axes.legend(loc="lower right", fontsize=8.5, framealpha=0.95, edgecolor="#dddddd")


def _draw_numbers(axes: Axes, points: Sequence[RooflinePoint]) -> None:
    """Number the first points, each where there is most room between other points and numbers."""
    unit = axes.figure.dpi / 72  # pixels in a typographic point
    occupied = [_pixels(axes, point) for point in _placed(points)]
    for number, point in enumerate(points[:_NAMED], start=1):
        if not _placed([point]):
            continue
        x, y = _pixels(axes, point)
        places = [
            (x + radius * unit * math.cos(angle), y + radius * unit * math.sin(angle))
            for radius in (16, 24, 34, 46)
            for angle in (math.pi * step / 12 for step in range(24))
        ]
        best = max(
            places,
            key=lambda place: min(
                _CLEAR * unit, *(math.dist(place, position) for position in occupied)
            ),
        )
        occupied.append(best)
        axes.annotate(
            str(number),
            (point.place, point.macs_per_s / 1e9),
            xytext=((best[0] - x) / unit, (best[1] - y) / unit),
            textcoords="offset points",
            ha="center",
            va="center",
            fontsize=8,
            color=_INK,
            bbox={"boxstyle": "circle,pad=0.2", "fc": "white", "ec": _INK, "lw": 0.7},
            arrowprops={"arrowstyle": "-", "color": _INK, "lw": 0.6},
        )


def _placed(points: Sequence[RooflinePoint]) -> list[RooflinePoint]:
    return [point for point in points if math.isfinite(point.place)]


def _pixels(axes: Axes, point: RooflinePoint) -> tuple[float, float]:
    x, y = axes.transData.transform((point.place, point.macs_per_s / 1e9))
    return float(x), float(y)


def _list_names(axes: Axes, chart: Roofline) -> None:
    axes.axis("off")
    style: dict[str, Any] = {"transform": axes.transAxes, "va": "top", "color": _INK}
    axes.text(0, 1, "Layers that lose most time below their roof", weight="bold", **style)
    for row, point in enumerate(chart.points[:_NAMED]):
        y = 0.93 - row * 0.082
        title = f"{row + 1}  {short_name(point.name, _LETTERS)}"
        axes.text(0, y, title, fontsize=9.5, **style)
        facts = (
            f"{figure(point.lost_us)} of {figure(point.us)} us, at {point.share_of_roof:.0%} "
            f"of {point.roof}; {point.bound} takes {point.bound_share:.0%}"
        )
        axes.text(0.07, y - 0.034, facts, fontsize=8.5, alpha=0.75, **style)
    axes.text(0, 0.06, left_out(chart), fontsize=8.5, wrap=True, alpha=0.75, **style)
