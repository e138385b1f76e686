"""The profile of one inference as text, and as CSV with a row per layer."""

from collections.abc import Callable, Iterable
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

HEADER = (
    "layer",
    "type",
    "engine",
    "cycles",
    "us",
    "share",
    "MMAC",
    "MAC/cycle",
    "packets",
    "stalls",
    "used",
    "DDR rd KiB",
    "DDR wr KiB",
    "L2 KiB",
    "VTCM KiB",
    "weights KiB",
    "live KiB",
    "mJ",
    "bound",
    "cost model",
)
_FIRST_TO_GO = tuple(
    HEADER.index(name)
    for name in (
        *("packets", "cost model", "weights KiB", "VTCM KiB", "L2 KiB", "DDR wr KiB", "DDR rd KiB"),
        *("stalls", "MAC/cycle", "live KiB"),
        "mJ",
        *("used", "cycles", "MMAC", "type", "share", "engine"),
    )
)
_LEFT = frozenset(HEADER.index(name) for name in ("layer", "type", "engine", "bound", "cost model"))

_EXPLAINED = {
    ("stalls",): "share of its threads' issue slots in which nothing issues",
    ("used",): "of all vector contexts' issue slots, or of the HTA's multiply-accumulates",
    ("DDR rd KiB", "DDR wr KiB", "L2 KiB", "VTCM KiB"): "bytes moved",
    ("weights KiB",): "memory, packed weights included",
    ("live KiB",): "activations while the layer runs",
    ("mJ",): "energy by assumed constants",
    ("bound",): "what most of the layer's time goes on, and how much of it",
}


def profile_table(result: Result, memory: Footprint, energy: Energy) -> str:
    """Return layers, overheads and their sum, coverage, memory and energy of one inference."""
    inference = result.inferences[0]
    layer_memory = {layer.name: layer for layer in memory.layers}
    rows = [
        _layer_row(layer, layer_memory[layer.name], energy_row, inference.total_ps)
        for layer, energy_row in zip(inference.layers, energy.layers, strict=True)
    ]
    for part, energy_row in zip(inference.overheads, energy.overheads, strict=True):
        share = f"{part.duration_ps / inference.total_ps:.1%}"
        moved = _kib(_moved(part)) if any(_moved(part)) else [""] * 4
        times = ("", "", "", figure(part.us), share)
        rows.append(
            (
                f"({part.name})",
                *times,
                *[""] * 5,
                *moved,
                "",
                "",
                _mj(energy_row.millijoules),
                "",
                "",
            )
        )
    total = figure(inference.total_ps / 1e6)
    macs = figure(sum(layer.macs for layer in inference.layers) / 1e6)
    charges: list[LayerTiming | Overhead] = [*inference.layers, *inference.overheads]
    moved = _kib(map(sum, zip((0.0,) * 4, *(_moved(charge) for charge in charges), strict=True)))
    weights = figure((memory.weight_bytes + memory.packed_bytes) / 1024)
    total_row = ("total inference", "", "", "", total, "100%", macs, *[""] * 4, *moved, weights)
    rows.append((*total_row, "", _mj(energy.millijoules), "", ""))
    text = table(HEADER, rows, left=_LEFT, first_to_go=_FIRST_TO_GO, explained=_EXPLAINED)
    totals = (memory_line(memory), energy_line(energy))
    measured = measured_layers(inference.layers)
    lines = (_coverage(result), *measured, *totals, _forward(inference), _init(result))
    return "\n".join((text, *lines))


def _layer_row(
    layer: LayerTiming, memory: LayerMemory, energy: Spent, total_ps: int
) -> tuple[str, ...]:
    return (
        layer.name,
        layer.type,
        layer.engine,
        f"{layer.cycles}",
        figure(layer.us),
        f"{layer.duration_ps / total_ps:.1%}",
        figure(layer.macs / 1e6) if layer.macs else "",
        figure(layer.macs / layer.cycles) if layer.macs and layer.cycles else "",
        f"{layer.packets}" if layer.packets else "",
        f"{layer.stall_share:.0%}" if layer.packets else "",
        _used(layer),
        *_kib(_moved(layer)),
        *_kib((memory.weight_bytes + memory.packed_bytes, memory.live_bytes)),
        _mj(energy.millijoules),
        f"{layer.bound} {layer.bound_share:.0%}",
        layer.cost_model,
    )


def _mj(millijoules: float) -> str:
    return figure(millijoules) if millijoules else ""


def _used(layer: LayerTiming) -> str:
    """Return the share of its engine that a layer uses."""
    if layer.engine in ("hta", "htp"):
        return f"{layer.array_utilisation:.0%}" if layer.macs else ""
    return f"{layer.hvx_utilisation:.0%}" if layer.packets else ""


def _moved(charge: LayerTiming | Overhead) -> tuple[int, int, int, int]:
    """Return bytes by level, in the order of the columns."""
    return charge.ddr_read_bytes, charge.ddr_write_bytes, charge.l2_bytes, charge.vtcm_bytes


def _kib(sizes: Iterable[int]) -> list[str]:
    return [figure(size / 1024) for size in sizes]


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
