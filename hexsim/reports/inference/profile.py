"""The profile of one inference as text, and as CSV with a row per layer."""

from collections.abc import Callable
from typing import get_args

from hexsim.energy import Energy, Spent
from hexsim.memory import Footprint, LayerMemory
from hexsim.reports.document import Record
from hexsim.reports.inference.energy import energy_line, estimate_facts
from hexsim.reports.inference.measured_layers import measured_layers
from hexsim.reports.inference.memory import memory_line
from hexsim.reports.text import table
from hexsim.texts.figures import figure
from hexsim.timing.results import Bound, InferenceTiming, LayerTiming, Overhead, Result
from hexsim.timing.simtime import PS_PER_US

_MOVED = {
    "DDR rd KiB": "ddr_read_bytes",
    "DDR wr KiB": "ddr_write_bytes",
    "L2 KiB": "l2_bytes",
    "VTCM KiB": "vtcm_bytes",
}
"""Columns of bytes by level, and where they come from."""
HEADER = (
    *("layer", "type", "engine", "cycles", "us", "share", "MMAC", "MAC/cycle", "packets", "stalls"),
    *("used", *_MOVED, "weights KiB", "live KiB", "mJ", "bound", "cost model"),
)
_FIRST_TO_GO = tuple(
    HEADER.index(name)
    for name in (
        *("packets", "cost model", "weights KiB", *reversed(_MOVED), "stalls", "MAC/cycle"),
        *("live KiB", "mJ", "used", "cycles", "MMAC", "type", "share", "engine"),
    )
)
_LEFT = frozenset(HEADER.index(name) for name in ("layer", "type", "engine", "bound", "cost model"))

_EXPLAINED = {
    ("stalls",): "share of its threads' issue slots in which nothing issues",
    ("used",): "of all vector contexts' issue slots, or of the HTA's multiply-accumulates",
    tuple(_MOVED): "bytes moved",
    ("weights KiB",): "memory, packed weights included",
    ("live KiB",): "activations while the layer runs",
    ("mJ",): "energy by assumed constants",
    ("bound",): "what most of the layer's time is spent on, and how much of it",
}


def profile_table(result: Result, memory: Footprint, energy: Energy) -> str:
    """Return layers, overheads and their sum, coverage, memory and energy of one inference."""
    inference = result.inferences[0]
    layer_memory = {layer.name: layer for layer in memory.layers}
    rows = [
        _layer_row(layer, layer_memory[layer.name]) | _cost(layer, spent, inference)
        for layer, spent in zip(inference.layers, energy.layers, strict=True)
    ]
    rows += [
        {"layer": f"({part.name})"} | _cost(part, spent, inference)
        for part, spent in zip(inference.overheads, energy.overheads, strict=True)
    ]
    charges: list[LayerTiming | Overhead] = [*inference.layers, *inference.overheads]
    total = {
        "layer": "total inference",
        "us": figure(inference.total_ps / 1e6),
        "share": "100%",
        "MMAC": figure(sum(layer.macs for layer in inference.layers) / 1e6),
        "weights KiB": _kib(memory.weight_bytes + memory.packed_bytes),
        "mJ": figure(energy.millijoules),
    }
    cells = [[row.get(name, "") for name in HEADER] for row in (*rows, total | _moved(*charges))]
    text = table(HEADER, cells, left=_LEFT, first_to_go=_FIRST_TO_GO, explained=_EXPLAINED)
    totals = (memory_line(memory), energy_line(energy))
    measured = measured_layers(inference.layers)
    lines = (_coverage(result), *measured, *totals, _forward(inference), _init(result))
    return "\n".join((text, *lines))


def _layer_row(layer: LayerTiming, memory: LayerMemory) -> dict[str, str]:
    """Return what only layers have, by column."""
    row = {
        "layer": layer.name,
        "type": layer.type,
        "engine": layer.engine,
        "cycles": f"{layer.cycles}",
        "used": _used(layer),
        "weights KiB": _kib(memory.weight_bytes + memory.packed_bytes),
        "live KiB": _kib(memory.live_bytes),
        "bound": f"{layer.bound} {layer.bound_share:.0%}",
        "cost model": layer.cost_model,
    }
    if layer.packets:
        row |= {"packets": f"{layer.packets}", "stalls": f"{layer.stall_share:.0%}"}
    if layer.macs:
        row["MMAC"] = figure(layer.macs / 1e6)
        row["MAC/cycle"] = figure(layer.macs / layer.cycles) if layer.cycles else ""
    return row


def _cost(part: LayerTiming | Overhead, spent: Spent, whole: InferenceTiming) -> dict[str, str]:
    """Return time, bytes and energy, by column."""
    cost = {"us": figure(part.us), "share": f"{part.duration_ps / whole.total_ps:.1%}"}
    return cost | _moved(part) | ({"mJ": figure(spent.millijoules)} if spent.millijoules else {})


def _used(layer: LayerTiming) -> str:
    """Return the share of its engine that a layer uses."""
    if layer.engine in ("hta", "htp"):
        return f"{layer.array_utilisation:.0%}" if layer.macs else ""
    return f"{layer.hvx_utilisation:.0%}" if layer.packets else ""


def _moved(*charges: LayerTiming | Overhead) -> dict[str, str]:
    """Return the bytes that are moved, by column; nothing where none are."""
    sums = {name: sum(getattr(part, key) for part in charges) for name, key in _MOVED.items()}
    return {name: _kib(count) for name, count in sums.items()} if any(sums.values()) else {}


def _kib(count: int) -> str:
    return figure(count / 1024)


def _coverage(result: Result) -> str:
    coverage = result.coverage
    parts = (
        f"{model} {coverage.layer_share(model):.0%} of layers, "
        f"{coverage.mac_share(model):.0%} of MACs"
        for model in sorted(coverage.layers)
    )
    return f"costed by: {'; '.join(parts)}"


def _forward(inference: InferenceTiming) -> str:
    return f"forward propagate: {figure(inference.forward_ps / 1e6)} us"


def _init(result: Result) -> str:
    parts = ", ".join(f"{part.name} {figure(part.us / 1e3)}" for part in result.init)
    return f"initialisation before the first inference: {figure(result.init_ps / 1e9)} ms ({parts})"


_FIGURES = (
    "name type engine cycles us macs packets stall_share hvx_utilisation array_utilisation "
    "ddr_bytes ddr_read_bytes ddr_write_bytes l2_bytes vtcm_bytes bound bound_share"
)

layer_facts = Record(
    "A layer; cycles in the clock of its engine, bytes by level of memory.",
    _FIGURES,
    "parts_us=parts_ps cost_model",
)


def _part_us(bound: Bound) -> Callable[[LayerTiming], float]:
    return lambda layer: layer.parts_ps.get(bound, 0.0) / PS_PER_US


_csv_row = Record(
    "A layer with its energy, its memory and the parts of its time.",
    ("0", _FIGURES, "cost_model"),
    ("1.estimate", estimate_facts),
    ("2", "weight_bytes packed_bytes live_bytes on_chip_bytes"),
    ("0", {f"{bound}_us": _part_us(bound) for bound in get_args(Bound)}),
)


def profile_csv(result: Result, memory: Footprint, energy: Energy) -> str:
    """Return the layers of the first inference, in the order in which they ran."""
    layer_memory = {layer.name: layer for layer in memory.layers}
    return _csv_row.csv(
        (layer, spent, layer_memory[layer.name])
        for layer, spent in zip(result.layers, energy.layers, strict=True)
    )
