"""What layers need as figures: memory, moved bytes, energy, and the roofs of the chip.

Bytes of DDR pass through L2 as well, so the bars of levels are side by side and never added.

Under the roofs a layer is drawn once, at its bytes of the memory that binds it. Its colour is its
bound, and so is that of the roof. A layer that computes most of its time has a short roof of its
own.
"""

import math
from collections.abc import Sequence
from typing import Any

from hexsim.energy.account import PARTS
from hexsim.reports.colours import BOUNDS, ENERGY, MAIN, MEMORIES, tint
from hexsim.reports.inference import memory_parts
from hexsim.reports.pages.figures.chart import (
    BAR,
    Amounts,
    BarPart,
    Figure,
    FigureTable,
    chart,
    inked,
    label,
    layer_bars,
    legend,
    longest,
    name_columns,
    not_drawn,
    rectangles,
    source,
    stacked,
)
from hexsim.reports.roofline import OWN_ROOF, roof_colour
from hexsim.reports.text import number
from hexsim.results.benchmark import Inference
from hexsim.results.costs import EnergyUse, LayerCost, MemoryUse
from hexsim.results.roofline import Roofline, RooflinePoint
from hexsim.texts.figures import figure, size

_KIB = 1024
_HEIGHT = 420
_SIZES = ("live", "weight", "packed", "on_chip")


def memory_figure(memory: MemoryUse) -> Figure:
    """Return the figure of the memory of an inference."""
    layers = memory.layers
    live = [layer.live_bytes / _KIB for layer in layers]
    columns: dict[str, list[Any]] = {
        "name": [layer.name for layer in layers],
        "left": [number - 0.5 for number in range(len(layers))],
        "right": [number + 0.5 for number in range(len(layers))],
        "bottom": [0] * len(layers),
        "top": live,
    }
    plot = chart(
        "",
        "KiB live",
        height=_HEIGHT,
        tooltip=(("", "@name"), ("live", "@top{0,0.0} KiB")),
    )
    rectangles(plot, columns, fill_color=MAIN)
    name_columns(plot, columns["name"])
    plot.y_range.start = 0
    return Figure(
        "Memory",
        "Activations that are live while a layer runs, in the order in which layers run. All that "
        f"is allocated is {size(memory.peak_bytes)}: {memory_parts(memory)}.",
        FigureTable(
            ("layer", "type", "engine", "live KiB", "weights KiB", "packed KiB", "on chip KiB"),
            [
                (
                    *(layer.name, layer.type, layer.engine),
                    *(getattr(layer, f"{key}_bytes") / _KIB for key in _SIZES),
                )
                for layer in layers
            ],
        ),
        plot,
    )


_LEVELS = {
    "ddr_read_bytes": ("DDR, read", MEMORIES["ddr"]),
    "ddr_write_bytes": ("DDR, written", tint(MEMORIES["ddr"], 0.55)),
    "l2_bytes": ("L2", MEMORIES["l2"]),
    "vtcm_bytes": ("VTCM", MEMORIES["vtcm"]),
}
_ROW = 26


def traffic_figure(case: Inference) -> Figure | None:
    """Return the figure: bars by level for each layer; None if no layer has bytes."""
    layers = case.layers
    sums = {key: sum(getattr(layer, key) for layer in layers) for key in _LEVELS}
    levels = [key for key in _LEVELS if sums[key]]
    if not levels:
        return None
    rows = longest((layer.name, {key: getattr(layer, key) for key in levels}) for layer in layers)
    parts = [part for row, (name, sizes) in enumerate(rows) for part in _parts(row, name, sizes)]
    totals = ", ".join(f"{_LEVELS[key][0]} {size(sums[key])}" for key in levels)
    return Figure(
        "Memory traffic",
        f"Bytes that a layer moves, by level of memory; all layers together: {totals}. Levels "
        "stand beside each other: what comes from DDR passes L2 as well. Layers whose cost model "
        "counts no bytes, those on the CPU above all, have no bar. The largest layers are first."
        f"{not_drawn(len(layers))}",
        FigureTable(
            ("layer", "type", "engine", *(f"{_LEVELS[key][0]} KiB" for key in levels)),
            [
                (
                    *(layer.name, layer.type, layer.engine),
                    *(getattr(layer, key) / _KIB for key in levels),
                )
                for layer in layers
            ],
        ),
        layer_bars(
            "KiB moved",
            [name for name, _ in rows],
            parts,
            [("@what", "@amount{0,0.0} KiB")],
            row_height=_ROW,
        ),
        legend(parts, dict(_LEVELS[key] for key in levels)),
    )


def _parts(row: int, name: str, sizes: Amounts) -> list[BarPart]:
    """Return bars of a layer below each other; bytes written to DDR continue those read."""
    bars = [key for key in sizes if key != "ddr_write_bytes" or "ddr_read_bytes" not in sizes]
    height = BAR / len(bars)
    parts = []
    for key, count in sizes.items():
        kib = count / _KIB
        if not kib:
            continue
        continues = key not in bars
        left = sizes["ddr_read_bytes"] / _KIB if continues else 0.0
        top = -row + BAR / 2 - height * (0 if continues else bars.index(key))
        label, colour = _LEVELS[key]
        parts.append(BarPart(name, label, kib, kib, left, left + kib, top - height, top, colour))
    return parts


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
        _energy_table(case),
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


def _energy_table(case: Inference) -> FigureTable:
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


def roofline_figure(roofline: Roofline) -> Figure:
    """Return the figure: a mark per layer in the colour of its bound."""
    tooltip = (
        *(("", "@name"), ("per byte", "@place{0.00} MAC"), ("reaches", "@reached{0.000} GMAC/s")),
        *(("of", "@roofed{0.000} GMAC/s by @roof"), ("bound", "@bound, @share{0%} of its time")),
    )
    log: dict[str, Any] = {"x_axis_type": "log", "y_axis_type": "log"}
    plot = chart("multiply-adds per byte", "GMAC/s", height=460, tooltip=tooltip, **log)
    drawn = [point for point in roofline.points if math.isfinite(point.place)]
    legend = _roofs(plot, roofline, drawn)
    own = [point for point in drawn if point.bound == "compute"]
    style: dict[str, Any] = {"line_color": BOUNDS["compute"], "line_alpha": "alpha"}
    marks = source(_columns(own))
    plot.segment("place", "reached", "place", "own", source=marks, **style)
    plot.scatter("place", "own", marker="dash", size=14, source=marks, line_width=2, **style)
    style = {"color": "colour", "fill_alpha": "alpha", "line_alpha": "alpha"}
    plot.scatter("place", "reached", size=9, source=source(_columns(drawn)), **style)
    bounds = dict.fromkeys(point.bound for point in drawn)
    legend += [(BOUNDS[bound], f"layer bound by {bound}", "circle") for bound in bounds]
    missing = len(roofline.points) - len(drawn)
    remark = f" Not drawn: {number(missing, 'layer')} that moves no bytes." if missing else ""
    return Figure(
        "Roofline",
        f"How near each layer comes to what {roofline.engine.upper()} can do, at its bytes "
        f"of the memory that binds it. {OWN_ROOF if own else ''} Layers that multiply nothing or "
        f"run elsewhere ({roofline.other_layers}) take {roofline.other_share:.0%} of the time "
        f"together with the overheads.{remark}",
        _roofline_table(roofline.points),
        plot,
        tuple(legend),
    )


def _columns(points: Sequence[RooflinePoint]) -> dict[str, list[Any]]:
    return {
        "name": [point.name for point in points],
        "place": [point.place for point in points],
        "reached": [point.macs_per_s / 1e9 for point in points],
        "roofed": [point.roof_macs_per_s / 1e9 for point in points],
        "roof": [point.roof for point in points],
        "own": [point.own_macs_per_s / 1e9 for point in points],
        "bound": [point.bound for point in points],
        "share": [point.bound_share for point in points],
        "colour": [BOUNDS[point.bound] for point in points],
    }


def _roofs(plot: Any, roofline: Roofline, points: Sequence[RooflinePoint]) -> list[tuple[str, ...]]:
    """Draw the lines that no layer exceeds, over the range of the layers; return their legend."""
    roofs = roofline
    peak = roofs.peak_macs_per_s / 1e9
    if not points:
        return []
    ridges = [roofs.peak_macs_per_s / memory.bytes_per_s for memory in roofs.memories]
    places = [*(point.place for point in points), *ridges]
    low, high = min(places) / 2, max(places) * 2
    plot.y_range.start = min(point.macs_per_s for point in points) / 2e9
    plot.y_range.end = peak * 2
    colour = BOUNDS["compute"]
    plot.line([min(ridges), high], [peak, peak], line_color=colour, line_width=2)
    legend: list[tuple[str, ...]] = [(colour, f"{roofs.peak_name}: {figure(peak)} GMAC/s")]
    for memory, ridge in zip(roofs.memories, ridges, strict=True):
        rate, colour = memory.bytes_per_s / 1e9, roof_colour(memory)
        line = [low, ridge]
        dash = "solid" if memory.is_limit else "dashed"
        ends = [rate * x for x in line]
        plot.line(line, ends, line_color=colour, line_width=2, line_dash=dash)
        legend.append((colour, f"{memory.name}: {figure(rate)} GB/s"))
    return legend


def _roofline_table(points: Sequence[RooflinePoint]) -> FigureTable:
    header = (
        *("layer", "type", "MAC/B of DDR", "MAC/B of L2", "GMAC/s", "roof", "of its roof"),
        *("lost us", "bound", "bound's share of its time"),
    )
    rows = [
        (
            *(point.name, point.type),
            *(point.ddr_macs_per_byte, point.l2_macs_per_byte),
            *(point.macs_per_s / 1e9, point.roof, point.share_of_roof, point.lost_us),
            *(point.bound, point.bound_share),
        )
        for point in points
    ]
    return FigureTable(header, rows)
