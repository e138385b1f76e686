"""The profile of one inference as text, and as CSV with a row per layer."""

from typing import get_args

from hexsim.reports.inference.energy import energy_line
from hexsim.reports.inference.measured_layers import measured_layers
from hexsim.reports.inference.memory import memory_line
from hexsim.reports.text import table
from hexsim.results.benchmark import Inference
from hexsim.results.costs import LayerCost, LayerMemory, OverheadCost
from hexsim.results.document import columns, plain
from hexsim.results.fields import fields
from hexsim.texts.csv_text import csv_text
from hexsim.texts.figures import figure
from hexsim.timing.results import Bound

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

_BOUNDS: tuple[Bound, ...] = get_args(Bound)
_EXPLAINED = {
    ("stalls",): "share of its threads' issue slots in which nothing issues",
    ("used",): "of all vector contexts' issue slots, or of the HTA's multiply-accumulates",
    tuple(_MOVED): "bytes moved",
    ("weights KiB",): "memory, packed weights included",
    ("live KiB",): "activations while the layer runs",
    ("mJ",): "energy by assumed constants",
    ("bound",): "what most of the layer's time is spent on, and how much of it",
}


def profile_table(case: Inference) -> str:
    """Return layers, overheads and their sum, coverage, memory and energy of one inference."""
    layer_memory = {layer.name: layer for layer in case.memory.layers}
    rows = [
        _layer_row(layer, layer_memory[layer.name]) | _cost(layer, case) for layer in case.layers
    ]
    rows += [{"layer": f"({part.name})"} | _cost(part, case) for part in case.overheads]
    memory = case.memory
    total = {
        "layer": "total inference",
        "us": figure(case.total_inference_us),
        "share": "100%",
        "MMAC": figure(sum(layer.macs for layer in case.layers) / 1e6),
        "weights KiB": _kib(memory.weight_bytes + memory.packed_bytes),
        "mJ": figure(case.energy.mj),
    }
    total |= _moved(*case.layers, *case.overheads)
    cells = [[row.get(name, "") for name in HEADER] for row in (*rows, total)]
    text = table(HEADER, cells, left=_LEFT, first_to_go=_FIRST_TO_GO, explained=_EXPLAINED)
    totals = (memory_line(memory), energy_line(case.energy))
    measured = measured_layers(case.layers)
    forward = f"forward propagate: {figure(case.forward_propagate_us)} us"
    return "\n".join((text, _coverage(case), *measured, *totals, forward, _init(case)))


def _layer_row(layer: LayerCost, memory: LayerMemory) -> dict[str, str]:
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


def _cost(part: LayerCost | OverheadCost, whole: Inference) -> dict[str, str]:
    """Return time, bytes and energy, by column."""
    share = part.us / (whole.total_inference_us or 1.0)
    cost = {"us": figure(part.us), "share": f"{share:.1%}"}
    return cost | _moved(part) | ({"mJ": figure(part.mj)} if part.mj else {})


def _used(layer: LayerCost) -> str:
    """Return the share of its engine that a layer uses."""
    if layer.engine in ("hta", "htp"):
        return f"{layer.array_utilisation:.0%}" if layer.macs else ""
    return f"{layer.hvx_utilisation:.0%}" if layer.packets else ""


def _moved(*charges: LayerCost | OverheadCost) -> dict[str, str]:
    """Return the bytes that are moved, by column; nothing where none are."""
    sums = {name: sum(getattr(part, key) for part in charges) for name, key in _MOVED.items()}
    return {name: _kib(count) for name, count in sums.items()} if any(sums.values()) else {}


def _kib(count: int) -> str:
    return figure(count / 1024)


def _coverage(case: Inference) -> str:
    parts = (
        f"{model} {share.layers:.0%} of layers, {share.macs:.0%} of MACs"
        for model, share in sorted(case.coverage.items())
    )
    return f"costed by: {'; '.join(parts)}"


def _init(case: Inference) -> str:
    parts = ", ".join(f"{name} {figure(us / 1e3)}" for name, us in case.initialisation_us.items())
    total = figure(case.initialisation_total_us / 1e3)
    return f"initialisation before the first inference: {total} ms ({parts})"


def profile_csv(case: Inference) -> str:
    """Return the layers of an inference as CSV, in the order in which they ran."""
    memory = {layer.name: layer for layer in case.memory.layers}
    sizes = [field for field in fields(LayerMemory).values() if field.key.endswith("_bytes")]
    costs = columns(LayerCost)
    header = [*costs.values(), *(field.key for field in sizes), *(f"{b}_us" for b in _BOUNDS)]
    rows = (
        [
            *(plain(getattr(layer, name)) for name in costs),
            *(getattr(memory[layer.name], field.name) for field in sizes),
            *(layer.parts_us.get(bound, 0.0) for bound in _BOUNDS),
        ]
        for layer in case.layers
    )
    return csv_text(header, rows)
