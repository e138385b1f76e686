"""A roofline as a table, and as a picture: PNG or SVG, drawn by matplotlib.

A filled circle is a layer at its multiply-adds per byte of the memory that binds it. Its colour is
the bound of the layer, as that of the roof is, and its area is proportional to the layer's time. A
dash above a layer bound by compute is the rate that its instructions allow. The layers that lose
most time are numbered, and named beside the chart.

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
from hexsim.reports.colours import BOUNDS
from hexsim.reports.text import table
from hexsim.results.benchmark import Inference
from hexsim.results.roofline import MemoryRoof, Roofline, RooflinePoint
from hexsim.texts.extras import missing
from hexsim.texts.figures import figure

if TYPE_CHECKING:
    from matplotlib.axes import Axes


HEADER = (
    *("layer", "MMAC", "MAC/B DDR", "MAC/B L2", "GMAC/s"),
    *("roof", "roof GMAC/s", "reached", "us", "lost us", "bound"),
)
_FIRST_TO_GO = (3, 1, 4, 6, 2)


def roofline_table(chart: Roofline) -> str:
    """Return the roofs, a line per layer and a note on the layers that are not in the table."""
    rows = [_row(point) for point in chart.points]
    text = table(HEADER, rows, left=frozenset({0, 5, 10}), first_to_go=_FIRST_TO_GO)
    return f"{_roofs(chart)}\n\n{text}\n\n{_LEGEND}\n{left_out(chart)}"


_LEGEND = (
    "roof: the lowest one over the layer; lost: time beyond that roof; "
    "bound: what most of its time is spent on"
)


OWN_ROOF = (
    "The dash above a layer bound by compute is its own roof, what its instructions alone allow."
)


def roof_colour(memory: MemoryRoof) -> str:
    """Return the colour of a memory's roof, that of the layers which it binds."""
    if memory.name == "one stream":
        return BOUNDS["latency"]
    return BOUNDS["l2" if memory.level == "l2" else "ddr"]


def left_out(chart: Roofline) -> str:
    """Return a note on what the chart does not show."""
    return (
        f"not shown: {chart.other_layers} layers without multiply-adds or on other engines, and "
        f"everything that is not a layer: {chart.other_share:.0%} of the total time"
    )


def _roofs(chart: Roofline) -> str:
    lines = [f"{chart.peak_name}: {figure(chart.peak_macs_per_s / 1e9)} GMAC/s"]
    for memory in chart.memories:
        ridge = chart.peak_macs_per_s / memory.bytes_per_s
        lines.append(
            f"{memory.name}: {figure(memory.bytes_per_s / 1e9)} GB/s, "
            f"below the peak up to {figure(ridge)} MAC/byte"
        )
    return "\n".join(lines)


def _row(point: RooflinePoint) -> tuple[str, ...]:
    return (
        point.name,
        figure(point.macs / 1e6),
        _intensity(point.ddr_macs_per_byte),
        _intensity(point.l2_macs_per_byte),
        figure(point.macs_per_s / 1e9),
        point.roof,
        figure(point.roof_macs_per_s / 1e9),
        f"{point.share_of_roof:.0%}",
        figure(point.us),
        figure(point.lost_us),
        point.bound,
    )


def _intensity(value: float | None) -> str:
    return "" if value is None else figure(value)


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
_CLEAR = 15
"""A distance in typographic points from a number to other marks that is enough."""
_INK = "#333333"


def picture_format(path: Path) -> Format:
    """Return the format by the file's suffix; HexsimError if it is neither PNG nor SVG."""
    suffix = path.suffix.lower()
    if suffix == ".png":
        return "png"
    if suffix == ".svg":
        return "svg"
    raise HexsimError(f"cannot draw '{path}': its name must end in .png or .svg")


def picture(case: Inference, chart: Roofline, kind: Format) -> bytes:
    """Draw the chart of a case; equal charts give equal bytes."""
    matplotlib = load_matplotlib()
    figure = matplotlib.figure.Figure(figsize=(12.5, 6.6), dpi=150, layout="constrained")
    axes, names = figure.subplots(1, 2, width_ratios=(2.6, 1))
    _set_up(axes, case, chart)
    _list_names(names, chart)
    figure.draw_without_rendering()  # settles where the axes are, on which what follows depends
    _draw_roofs(axes, chart)
    _draw_points(axes, chart)
    _draw_numbers(axes, chart.points)
    data = io.BytesIO()
    metadata = {"Date": None} if kind == "svg" else {"Software": None}
    with matplotlib.rc_context({"svg.hashsalt": "hexsim", "svg.fonttype": "none"}):
        figure.savefig(data, format=kind, metadata=metadata)
    return data.getvalue()


def _set_up(axes: Axes, case: Inference, chart: Roofline) -> None:
    """Set scales, limits and titles; other elements need the limits for their places."""
    intensities = [point.place for point in _placed(chart.points)]
    ridges = [chart.peak_macs_per_s / memory.bytes_per_s for memory in chart.memories]
    rates = [point.macs_per_s / 1e9 for point in chart.points]
    peak = chart.peak_macs_per_s / 1e9
    axes.set(
        xscale="log",
        yscale="log",
        xlim=(min([*intensities, *ridges]) / 2.5, max([*intensities, *ridges]) * 2.5),
        ylim=(min([*rates, peak / 50]) / 2, peak * 2),
        xlabel="multiply-adds per byte",
        ylabel="GMAC/s",
    )
    axes.set_title(
        f"{case.network} on {case.chip} {case.runtime}\n{case.software}, {case.perf_profile}",
        loc="left",
        fontsize=11,
    )
    for side in ("top", "right"):
        axes.spines[side].set_visible(False)
    axes.grid(True, color="#eeeeee", linewidth=0.8)
    axes.set_axisbelow(True)
    for axis in (axes.xaxis, axes.yaxis):
        axis.set_major_formatter(lambda value, _: f"{value:g}")
        axis.set_minor_formatter(load_matplotlib().ticker.NullFormatter())


def _draw_roofs(axes: Axes, chart: Roofline) -> None:
    """Draw the peak as a level line, and memories as slopes that end at the peak."""
    peak = chart.peak_macs_per_s / 1e9
    left, right = axes.get_xlim()
    bottom, _ = axes.get_ylim()
    ridges = {memory.name: chart.peak_macs_per_s / memory.bytes_per_s for memory in chart.memories}
    axes.plot([min(ridges.values()), right], [peak, peak], color=BOUNDS["compute"], linewidth=1.6)
    axes.annotate(
        f"{chart.peak_name} {figure(peak)} GMAC/s",
        (right, peak),
        xytext=(-4, 4),
        textcoords="offset points",
        ha="right",
        va="bottom",
        fontsize=9,
        color=_INK,
    )
    for memory in chart.memories:
        rate = memory.bytes_per_s / 1e9
        line = (max(left, bottom / rate), ridges[memory.name])
        style = "-" if memory.is_limit else ":"
        colour = roof_colour(memory)
        axes.plot(line, [x * rate for x in line], color=colour, linewidth=1.6, linestyle=style)
        middle = math.sqrt(line[0] * line[1])
        axes.text(
            middle,
            middle * rate * 1.08,
            f"{memory.name} {figure(rate)} GB/s",
            rotation=_angle(axes, line, rate),
            rotation_mode="anchor",
            ha="center",
            va="bottom",
            fontsize=9,
            color=_INK,
            bbox={"fc": "white", "ec": "none", "alpha": 0.8, "pad": 0.5},
        )


def _angle(axes: Axes, line: tuple[float, float], rate: float) -> float:
    """Return the slope of a line through the origin as it appears on the page, in degrees."""
    (x0, y0), (x1, y1) = axes.transData.transform([(x, x * rate) for x in line])
    return math.degrees(math.atan2(y1 - y0, x1 - x0))


def _draw_points(axes: Axes, chart: Roofline) -> None:
    longest = max((point.us for point in chart.points), default=1.0)
    own = [point for point in _placed(chart.points) if point.bound == "compute"]
    if own:
        places = [point.place for point in own]
        ends = [[point.macs_per_s / 1e9 for point in own], [p.own_macs_per_s / 1e9 for p in own]]
        axes.vlines(places, *ends, color=BOUNDS["compute"], linewidth=0.8)
        label = "what its own instructions allow"
        style: dict[str, Any] = {
            "marker": "_",
            "s": 60,
            "linewidths": 1.6,
            "color": BOUNDS["compute"],
        }
        axes.scatter(places, ends[1], label=label, **style)
    for bound, colour in BOUNDS.items():
        chosen = [point for point in _placed(chart.points) if point.bound == bound]
        if chosen:
            axes.scatter(
                [point.place for point in chosen],
                [point.macs_per_s / 1e9 for point in chosen],
                s=[18 + 260 * point.us / longest for point in chosen],
                color=colour,
                alpha=0.75,
                edgecolors="white",
                linewidths=0.7,
            )
            axes.scatter([], [], s=45, color=colour, label=f"layer bound by {bound}")
    if chart.points:
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
        title = f"{row + 1}  {_shortened(point.name)}"
        axes.text(0, y, title, fontsize=9.5, **style)
        facts = (
            f"{figure(point.lost_us)} of {figure(point.us)} us, at {point.share_of_roof:.0%} "
            f"of {point.roof}; {point.bound} takes {point.bound_share:.0%}"
        )
        axes.text(0.07, y - 0.034, facts, fontsize=8.5, alpha=0.75, **style)
    axes.text(0, 0.06, left_out(chart), fontsize=8.5, wrap=True, alpha=0.75, **style)


def _shortened(name: str, most: int = 34) -> str:
    return name if len(name) <= most else f"{name[: most // 2 - 1]}...{name[-most // 2 + 2 :]}"
