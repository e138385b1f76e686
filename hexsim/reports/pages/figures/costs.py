"""What layers need as figures: memory, moved bytes, energy, and the roofs of the chip.

Bytes of DDR pass through L2 as well, so the bars of levels are side by side and never added.

Under the roofs a layer is drawn once, at its bytes of the memory that binds it. Its colour is its
bound, and so is that of the roof. A layer that computes most of its time has a short roof of its
own.
"""

import math
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from hexsim.energy.account import PARTS
from hexsim.reports.colours import BOUNDS, ENERGY, MAIN, MEMORIES, tint
from hexsim.reports.inference import memory_parts
from hexsim.reports.pages.figures.chart import (
    BAR,
    Amounts,
    BarPart,
    Chart,
    Columns,
    Figure,
    FigureTable,
    label,
    layer_bars,
    legend,
    longest,
    not_drawn,
    of_layer,
    part_name,
    stacked,
    table_of,
)
from hexsim.reports.text import number
from hexsim.results.benchmark import Inference
from hexsim.results.costs import EnergyUse, Footprint, LayerCost
from hexsim.results.roofline import MemoryRoof, Roofline, RooflinePoint
from hexsim.texts.figures import figure, size

_KIB = 1024
_HEIGHT = 420
_HELD = (("live_bytes", "live activations", MAIN), ("on_chip_bytes", "on chip", MEMORIES["vtcm"]))
_SIZES = {
    **{"live": "live_bytes", "weights": "weight_bytes"},
    **{"packed": "packed_bytes", "on chip": "on_chip_bytes"},
}
_LAYER: Columns = {"layer": "name", "type": "type", "engine": "engine"}


def _in_kib(sizes: Mapping[str, str]) -> Columns:
    """Return columns of sizes in KiB; `sizes` has attributes by heading."""

    def column(key: str) -> Callable[[Any], float]:
        return lambda row: getattr(row, key) / _KIB

    return {f"{name} KiB": column(key) for name, key in sizes.items()}


def memory_figure(memory: Footprint) -> Figure:
    """Return the figure of the memory of an inference."""
    layers = memory.layers
    names, places = [layer.name for layer in layers], range(len(layers))
    tooltip = (("", "{name}"), ("{what}", "{kib} KiB"))
    plot = Chart("", "KiB", _HEIGHT, tooltip=tooltip, columns=names, y=(0.0, None))
    ends = {"left": [at - 0.5 for at in places], "right": [at + 0.5 for at in places]}
    tops, drawn = [0.0] * len(layers), list[tuple[str, str]]()
    for key, what, colour in _HELD:
        kib = [getattr(layer, key) / _KIB for layer in layers]
        if any(kib):
            below, tops = tops, [sum(both) for both in zip(tops, kib, strict=True)]
            said = {"name": names, "what": what, "kib": kib, "colour": colour}
            plot.draw("rects", bottom=below, top=tops, **ends, **said)
            drawn.append((colour, what))
    return Figure(
        "Memory",
        "What a layer holds while it runs, in the order in which layers run: live activations, "
        "with padding, and what is on chip, in VTCM or the memory of the tensor engine. All that "
        f"is allocated beside the chip is {size(memory.peak_bytes)}: {memory_parts(memory)}.",
        table_of(layers, {**_LAYER, **_in_kib(_SIZES)}),
        plot,
        tuple(drawn),
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
        table_of(layers, {**_LAYER, **_in_kib({_LEVELS[key][0]: key for key in levels})}),
        layer_bars(
            "KiB moved",
            [name for name, _ in rows],
            parts,
            [("", "{what}: {amount} KiB")],
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
    tooltip = (("energy", "{whole} mJ"), ("of it", "{what} {amount} mJ"))
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


def _intervals(plot: Chart, layers: Sequence[LayerCost]) -> None:
    """Draw a line for each bar from the lower to the upper bound of its energy."""
    rows = [-row for row in range(len(layers))]
    plot.draw(
        "segments",
        name=[layer.name for layer in layers],
        x0=[layer.mj_low for layer in layers],
        x1=[layer.mj_high for layer in layers],
        **{"y0": rows, "y1": rows, "colour": "", "width": 1.5},
    )


def _largest(energy: EnergyUse) -> str:
    """Return a sentence on the largest part of the energy."""
    parts = {part: estimate.mj for part, estimate in energy.parts_mj.items()}
    if not parts or not energy.mj:
        return ""
    part = max(parts, key=lambda name: parts[name])
    return f"Most is {label(part)}, {parts[part] / energy.mj:.0%}."


def _energy_table(case: Inference) -> FigureTable:
    def spent(part: str) -> Callable[[Any], Any]:
        return lambda row: row.parts_mj.get(part, 0.0) if isinstance(row, LayerCost) else None

    columns: Columns = {
        **{"layer": part_name, "engine": of_layer("engine")},
        **{"mJ": "mj", "low": "mj_low", "high": "mj_high"},
        "share": lambda part: part.mj / (case.energy.mj or 1.0),
        **{part: spent(part) for part in PARTS if part in case.energy.parts_mj},
    }
    parts = [*case.layers, *case.overheads]
    return table_of(sorted(parts, key=lambda part: -part.mj), columns)


def roofline_figure(roofline: Roofline) -> Figure:
    """Return the figure: a mark per layer in the colour of its bound."""
    tooltip = (
        *(("", "{name}"), ("per byte", "{x} MAC"), ("reaches", "{y} GMAC/s")),
        *(("of", "{roofed} GMAC/s by {roof}"), ("bound", "{bound}, {share%} of its time")),
    )
    plot = Chart("multiply-adds per byte", "GMAC/s", 460, tooltip=tooltip, log=(True, True))
    drawn = [point for point in roofline.points if math.isfinite(point.place)]
    legend = _roofs(plot, roofline, drawn)
    own = [point for point in drawn if point.bound == "compute"]
    across, roof = [point.place for point in own], [point.own_macs_per_s / 1e9 for point in own]
    reached = [point.macs_per_s / 1e9 for point in own]
    style: dict[str, Any] = {"name": [point.name for point in own], "colour": BOUNDS["compute"]}
    plot.draw("segments", x0=across, x1=across, y0=reached, y1=roof, width=1, **style)
    dash = {"x0": [place / _DASH for place in across], "x1": [place * _DASH for place in across]}
    plot.draw("segments", y0=roof, y1=roof, width=2, **dash, **style)
    plot.draw("points", **_columns(sorted(drawn, key=lambda point: -point.us)))
    if own:
        legend.append((BOUNDS["compute"], "dash: what a layer's own instructions allow"))
    bounds = dict.fromkeys(point.bound for point in drawn)
    legend += [(BOUNDS[bound], f"layer bound by {bound}", "circle") for bound in bounds]
    missing = len(roofline.points) - len(drawn)
    remark = f" Not drawn: {number(missing, 'layer')} that moves no bytes." if missing else ""
    return Figure(
        "Roofline",
        f"How near each layer comes to what {roofline.engine.upper()} can do, at its bytes "
        f"of the memory that binds it. Layers that multiply nothing or "
        f"run elsewhere ({roofline.other_layers}) take {roofline.other_share:.0%} of the time "
        f"together with the overheads.{remark}",
        table_of(roofline.points, _ROOFLINE),
        plot,
        tuple(legend),
    )


_DASH = 1.025
"""The ratio of the right end of a dash to its middle."""


def _columns(points: Sequence[RooflinePoint]) -> dict[str, list[Any]]:
    """Return the columns of the marks; an area grows with the time of its layer."""
    longest = max((point.us for point in points), default=1.0)
    return {
        "size": [math.sqrt(30 + 270 * point.us / longest) for point in points],
        "name": [point.name for point in points],
        "x": [point.place for point in points],
        "y": [point.macs_per_s / 1e9 for point in points],
        "roofed": [point.roof_macs_per_s / 1e9 for point in points],
        "roof": [point.roof for point in points],
        "bound": [point.bound for point in points],
        "share": [point.bound_share for point in points],
        "colour": [BOUNDS[point.bound] for point in points],
    }


def _roofs(plot: Chart, roofs: Roofline, points: Sequence[RooflinePoint]) -> list[tuple[str, ...]]:
    """Draw the lines that no layer exceeds, over the range of the layers; return their legend."""
    peak = roofs.peak_macs_per_s / 1e9
    ridges = [roofs.peak_macs_per_s / memory.bytes_per_s for memory in roofs.memories]
    places = [*(point.place for point in points), *ridges]
    low, high = min(places) / 2, max(places) * 2
    plot.y = (min((point.macs_per_s / 1e9 for point in points), default=peak / 50) / 2, peak * 2)
    colour = BOUNDS["compute"]
    plot.draw("line", x=[min(ridges), high], y=[peak, peak], colour=colour, width=2)
    legend: list[tuple[str, ...]] = [(colour, f"{roofs.peak_name}: {figure(peak)} GMAC/s")]
    for memory, ridge in zip(roofs.memories, ridges, strict=True):
        rate, colour = memory.bytes_per_s / 1e9, _roof_colour(memory)
        dash = () if memory.is_limit else (6, 4)
        line = {"x": [low, ridge], "y": [rate * low, rate * ridge]}
        plot.draw("line", **line, colour=colour, width=2, dash=dash)
        legend.append((colour, f"{memory.name}: {figure(rate)} GB/s"))
    return legend


def _roof_colour(memory: MemoryRoof) -> str:
    """Return the colour of a memory's roof, that of the layers which it binds."""
    if memory.name == "one stream":
        return BOUNDS["latency"]
    return BOUNDS["l2" if memory.level == "l2" else "ddr"]


_ROOFLINE: Columns = {
    **{"layer": "name", "type": "type"},
    **{"MAC/B of DDR": "ddr_macs_per_byte", "MAC/B of L2": "l2_macs_per_byte"},
    "GMAC/s": lambda point: point.macs_per_s / 1e9,
    **{"roof": "roof", "of its roof": "share_of_roof", "lost us": "lost_us", "bound": "bound"},
    "bound's share of its time": "bound_share",
}
