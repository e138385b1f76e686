"""The bytes that each layer moves, by level of memory.

Bytes of DDR pass through L2 as well, so the bars of levels are side by side and never added.
"""

from hexsim.reports.colours import MEMORIES, tint
from hexsim.reports.pages.figures.figure import Figure, FigureTable
from hexsim.reports.pages.figures.layer_bars import (
    BAR,
    Amounts,
    BarPart,
    layer_bars,
    legend,
    longest,
    not_drawn,
)
from hexsim.results.benchmark import Inference
from hexsim.texts.figures import size

_KIB = 1024
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
