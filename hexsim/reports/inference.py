"""One inference as text: time, memory and energy of its layers, its interval, and other clients.

How wrong the times of measured layers have been is told for the classes of layers that it has. The
CSV has a row per layer.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from typing import TYPE_CHECKING, get_args

from msgspec.structs import replace

from hexsim.datasheets.measurements import LayerFactor, layer_factors
from hexsim.reports.text import number, quantity, short_names, table
from hexsim.results.benchmark import Inference, place_names
from hexsim.results.costs import (
    ClientCost,
    Interference,
    LayerCost,
    LayerMemory,
    OverheadCost,
    Slowdown,
)
from hexsim.results.document import columns, plain
from hexsim.runtimes import Engine
from hexsim.texts.csv_text import csv_text
from hexsim.texts.fields import fields
from hexsim.texts.figures import figure, given, percent, size, span
from hexsim.timing.results import Bound

if TYPE_CHECKING:
    from hexsim.datasheets.quantity import Estimate
    from hexsim.planning.plan import PreparedGraph
    from hexsim.results.costs import EnergyUse, Footprint, Millijoule


REPORTED_FACTOR = 2.0
"""Energies that differ by a smaller factor are not reported: their own intervals are wider."""


def ranged(estimate: Estimate) -> str:
    """Return an estimate with its bounds: `23.3 (9.48 .. 52.9)`."""
    return f"{figure(estimate.value)} ({span(estimate.low, estimate.high)})"


def millijoules(energy: Millijoule) -> str:
    """Return an energy with its bounds."""
    return f"{figure(energy.mj)} ({span(energy.mj_low, energy.mj_high)})"


def energy_line(energy: EnergyUse) -> str:
    """Return a sentence on the energy of an inference and its parts, the largest first."""
    parts = sorted(energy.parts_mj.items(), key=lambda item: -item[1].mj)
    text = ", ".join(f"{part} {figure(spent.mj)}" for part, spent in parts)
    return f"energy: {millijoules(energy)} mJ by assumed constants ({text})"


_PARTS = {
    "weight_bytes": "weights",
    "packed_bytes": "packed weights",
    "activation_bytes": "activations",
    "scratch_bytes": "scratch",
    "handed_bytes": "handed to the DSP and back",
    "application_bytes": "buffers of the application",
}


def memory_parts(memory: Footprint) -> str:
    """Return the parts of the peak."""
    parts = {name: getattr(memory, part) for part, name in _PARTS.items()}
    return ", ".join(f"{name} {size(part)}" for name, part in parts.items() if part)


def mebibytes(count: Estimate) -> str:
    """Return a number of bytes in MiB with its bounds: `39.7 (21.0 .. 71.0)`."""
    value, low, high = (end * 2**-20 for end in (count.value, count.low, count.high))
    return f"{figure(value)} ({span(low, high)})"


def prepared_lines(prepared: PreparedGraph) -> str:
    """Return what preparing a graph takes, each figure with its bounds."""
    return (
        f"context binary: {mebibytes(prepared.binary_bytes)} MiB; preparing it takes a CPU "
        f"{ranged(prepared.prepare_s)} s, and {mebibytes(prepared.prepare_bytes)} MiB or more\n"
        f"initialisation on the phone: {ranged(prepared.initialise_s)} s with preparing the graph, "
        f"{ranged(prepared.load_s)} s with loading the binary\n"
        "(estimates, low .. high: all constants at their ends, most of them assumed)"
    )


def memory_line(memory: Footprint) -> str:
    """Return the peak, its parts, and the layer at which most activations are live."""
    parts = memory_parts(memory)
    text = f"memory at the peak: {size(memory.peak_bytes)} ({parts})"
    if memory.process is not None:
        text += f"\nof its process on Android, with libraries: {mebibytes(memory.process)} MiB"
    if not memory.layers:
        return text
    sizes = {layer.name: layer.live_bytes for layer in memory.layers}
    most = max(sizes, key=lambda name: sizes[name])
    return f"{text}\nmost activations live: {size(sizes[most])}, at layer {most}"


_RUNTIMES: dict[Engine, str] = {"hvx": "dsp", "cpu": "cpu", "gpu": "gpu"}


def measured_layers(
    layers: Iterable[LayerCost], factors: Sequence[LayerFactor] | None = None
) -> list[str]:
    """Return a line per engine with the median factors of the classes that have been measured.

    There is no line for an engine none of whose classes has been measured. `factors` are those of
    layer_factors.csv by default.
    """
    known = layer_factors() if factors is None else factors
    present = {(_RUNTIMES.get(layer.engine), layer.layer_class) for layer in layers}
    lines = []
    for engine, runtime in _RUNTIMES.items():
        parts = [
            f"{factor.layer_class} {figure(factor.factor)} ({factor.layers} layers)"
            for factor in known
            if factor.runtime == runtime and (runtime, factor.layer_class) in present
        ]
        if parts:
            lines.append(
                f"median factor between measured and simulated layers of {engine}: "
                f"{', '.join(parts)}; sd865, snpe-1.63"
            )
    return lines


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


def profile_table(case: Inference, *, every: bool = True) -> str:
    """Return the layers of one inference, with its total, coverage, memory and energy.

    Without `every`, sums by type of layer come first, and of many layers the ten longest follow.
    """
    chosen = case.layers if every or len(case.layers) <= _FEW else case.slowest(_LONGEST)
    layer_memory = {layer.name: layer for layer in case.memory.layers}
    names = short_names([layer.name for layer in chosen])
    rows = [
        _layer_row(layer, layer_memory[layer.name])
        | _cost(layer, case)
        | {"layer": layer.name if every else name}
        for name, layer in zip(names, chosen, strict=True)
    ]
    if others := len(case.layers) - len(chosen):
        rest_us = sum(layer.us for layer in case.layers) - sum(layer.us for layer in chosen)
        share = rest_us / (case.total_inference_us or 1.0)
        rest = {"layer": f"{number(others, 'other layer')}", "us": figure(rest_us)}
        rows.append(rest | {"share": f"{share:.1%}"})
    overheads = case.overheads if every else _by_name(case.overheads)
    rows += [{"layer": f"({part.name})"} | _cost(part, case) for part in overheads]
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
    if len(chosen) < len(case.layers):
        text = f"{_type_table(case)}\n\n{text}\n{_EVERY}"
    totals = (memory_line(memory), energy_line(case.energy))
    measured = measured_layers(case.layers)
    forward = f"forward propagate: {figure(case.forward_propagate_us)} us"
    return "\n".join((text, _coverage(case), *measured, *totals, forward, _init(case)))


_EVERY = "Every layer is in the JSON and the CSV of the profile, and in .layers in Python."
_LONGEST, _FEW = 10, 16
"""How many of the longest layers are shown, and the number up to which all are."""


def _type_table(case: Inference) -> str:
    """Return the sums of layers by type, then the time outside of layers, the longest first."""
    counts = Counter(layer.type for layer in case.layers)
    sums = [(kind, f"{counts[kind]}", us) for kind, us in case.by_type().items()]
    sums.append(("(outside of layers)", "", sum(part.us for part in case.overheads)))
    rows = [
        (name, count, figure(us), f"{us / (case.total_inference_us or 1.0):.1%}")
        for name, count, us in sorted(sums, key=lambda each: -each[2])
    ]
    total = ("total inference", f"{len(case.layers)}", figure(case.total_inference_us), "100%")
    return table(("type", "layers", "us", "share"), [total, *rows])


def _by_name(parts: Iterable[OverheadCost]) -> Iterator[OverheadCost]:
    """Yield the sum of the parts of each name, in the order in which they are first charged.

    Changes of layout count together, whatever they change.
    """
    groups: dict[str, list[OverheadCost]] = {}
    for part in parts:
        groups.setdefault(part.name.partition(" ")[0], []).append(part)
    for name, of in groups.items():
        count = f" x {len(of)}" if len(of) > 1 else ""
        summed = {
            key: sum(getattr(part, key) for part in of) for key in ("us", "mj", *_MOVED.values())
        }
        yield replace(of[0], name=f"{name}{count}", **summed)


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
    doubt = case.draws or case.uncertainty
    ends = doubt and doubt.initialisation_us
    between = f", {span(*(us / 1e3 for us in ends))} ms by its constants" if ends else ""
    return f"initialisation before the first inference: {total} ms ({parts}){between}"


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


def uncertainty_table(case: Inference) -> str:
    """Return both intervals, then a line per constant, those that matter most first."""
    interval = case.uncertainty
    if interval is None:
        return ""
    times = {
        "total inference": (case.total_inference_us, interval.total_inference_us),
        "forward propagate": (case.forward_propagate_us, interval.forward_propagate_us),
    }
    lines = [
        f"{name}: {figure(us / 1e3)} ms, between {figure(low / 1e3)} and {figure(high / 1e3)}"
        for name, (us, (low, high)) in times.items()
    ]
    rows = [
        (
            effect.constant,
            effect.stated_by,
            effect.confidence,
            quantity(effect.interval[0], effect.unit),
            quantity(effect.value, effect.unit),
            quantity(effect.interval[1], effect.unit),
            span(*(us / 1e3 for us in effect.total_inference_us)),
            f"{effect.share:.0%}",
        )
        for effect in interval.constants
    ]
    header = ("constant", "stated by", "confidence", "low", "value", "high", "total ms", "share")
    return "\n".join([*lines, "", table(header, rows, left=frozenset({0, 1, 2}))])


_CLIENT_HEADER = ("client", "unit", "period ms", "jobs", "late", "skipped", "mean ms", "worst ms")
_PART_HEADER = ("part", "alone us", "beside us", "factor")
_LEAST_CHANGE = 0.005
"""Parts that change by less are not listed."""


def background_tables(cases: Sequence[Inference]) -> str:
    """Return a paragraph per case that had background clients; empty if none had."""
    place = place_names(cases)
    return "\n\n".join(
        f"{case.network} on {place(case)} {_network(case.background)}\n"
        f"{client_table(case.background)}"
        for case in cases
        if case.background is not None
    )


def client_table(interference: Interference) -> str:
    """Return a line per client: jobs, and latencies in ms without the network -> with it."""
    rows = [_client_row(client) for client in interference.clients]
    return table(_CLIENT_HEADER, rows, left=frozenset({0, 1}))


def slowdown_table(interference: Interference) -> str:
    """Return the layers and overheads that the clients slow down (or speed up), and the total."""
    rows = [_part_row(name, part) for name, part in interference.parts.items() if _changed(part)]
    unchanged = len(interference.parts) - len(rows)
    rows.append(_part_row("total inference", interference))
    note = f"{unchanged} parts change by less than {_LEAST_CHANGE:.1%}"
    return f"{table(_PART_HEADER, rows)}\n{note}"


def _network(interference: Interference) -> str:
    alone_us, mean_us = interference.alone_us, interference.mean_us
    worst_us = interference.worst_us
    return (
        f"beside {', '.join(interference.loads)}, {interference.inferences} inferences in a row: "
        f"alone {figure(alone_us / 1e3)} ms, "
        f"mean {figure(mean_us / 1e3)} ms ({percent(mean_us / alone_us - 1, '+')}), "
        f"worst {figure(worst_us / 1e3)} ms ({percent(worst_us / alone_us - 1, '+')})"
    )


def _client_row(client: ClientCost) -> tuple[str, ...]:
    alone, beside = client.alone, client.beside
    return (
        client.name,
        client.unit,
        given(client.period_us / 1e3),
        f"{client.jobs}",
        f"{alone.missed} -> {beside.missed}",
        f"{alone.skipped} -> {beside.skipped}",
        f"{figure(alone.mean_us / 1e3)} -> {figure(beside.mean_us / 1e3)}",
        f"{figure(alone.worst_us / 1e3)} -> {figure(beside.worst_us / 1e3)}",
    )


def _part_row(name: str, part: Slowdown) -> tuple[str, str, str, str]:
    factor = figure(part.mean_us / part.alone_us) if part.alone_us else "new"
    return name, figure(part.alone_us), figure(part.mean_us), factor


def _changed(part: Slowdown) -> bool:
    return abs(part.mean_us - part.alone_us) > _LEAST_CHANGE * part.alone_us
