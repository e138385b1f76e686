"""The results of a benchmark as JSON, and as CSV with the row names of snpe_bench."""

from collections.abc import Callable, Iterable, Iterator, Sequence
from operator import attrgetter
from typing import Any

from hexsim.accuracy.agreement import Agreement
from hexsim.datasheets.estimate import Estimate
from hexsim.reports.anchor import anchor_keys
from hexsim.reports.benchmark.measured import is_outside, measured, measured_ms, measured_outcome
from hexsim.reports.benchmark.recommendation import orders
from hexsim.reports.benchmark.row_names import IN_CSV, inference, initialisation
from hexsim.reports.csv_text import csv_text
from hexsim.reports.document import Record
from hexsim.reports.inference.energy import energy_facts, estimate_facts
from hexsim.reports.inference.memory import memory_facts
from hexsim.reports.inference.profile import layer_facts
from hexsim.studies.benchmark import Case
from hexsim.studies.uncertainty import ConstantSensitivity, Uncertainty

_bounds = Record(
    "The times at both ends of an interval.",
    "total_inference_us=low.total_us,high.total_us",
    "forward_propagate_us=low.forward_us,high.forward_us",
)

_constant = Record(
    "A constant in doubt, and the times at both ends of its interval.",
    "stated_by=0.datasheet constant=0.path",
    ("0.constant", "unit confidence source value"),
    "interval=0.low,0.high total_inference_us=0.at_low.total_us,0.at_high.total_us share=1",
)


def _by_figure(latencies: Callable[..., Iterable[float]]) -> Callable[[Case], dict[str, Any]]:
    return lambda case: {
        "total_inference": [*latencies(case, forward=False)],
        "forward_propagate": [*latencies(case, forward=True)],
    }


def _outside_ms(case: Case, *, forward: bool) -> Iterator[float]:
    for row in measured(case, forward=forward):
        if case.uncertainty and is_outside(row, case.uncertainty):
            yield row.latency_ms


def _shares(uncertainty: Uncertainty) -> Iterable[tuple[ConstantSensitivity, float]]:
    return zip(uncertainty.sensitivities, uncertainty.shares, strict=True)


_uncertainty = Record(
    "The interval of the times, and the constants that it comes from.",
    ("uncertainty", "swept=scope", _bounds),
    {"measured_outside_ms": _by_figure(_outside_ms)},
    ("uncertainty", {"constants": (_shares, [_constant])}),
)

_client = Record(
    "The latencies of a client, and its jobs that were late or dropped.",
    "missed skipped mean_us=mean_ps worst_us=worst_ps",
)

_clients = Record(
    "A client without and with the network.",
    ("1", "name unit deadline_us=deadline_ps jobs=released"),
    {"alone": ("0", _client), "beside": ("1", _client)},
)

_slowdown = Record(
    "The time alone, and the mean beside the clients.", "alone_us=alone_ps mean_us=beside_ps"
)

_background = Record(
    "The network beside background clients.",
    "loads=names",
    {"inferences": lambda interference: len(interference.beside.inferences)},
    ("total", _slowdown),
    "worst_us=worst_ps",
    {"parts": (lambda result: {part.name: part for part in result.parts}, {"layer": _slowdown})},
    {"clients": ("clients", [_clients])},
)


def _of_classes(name: str) -> Callable[[Agreement], Any]:
    return lambda agreement: getattr(agreement, name) if agreement.classes else None


_accuracy = Record(
    "Outputs compared with those in float; winners only of classifiers.",
    "compared_on=evaluated",
    "sqnr_reference=reference",
    ("agreement", "inputs sqnr_db", {"top1_agreement": _of_classes("top1")}),
    ("agreement", "top1_right=right float_top1_right=float_right"),
    ("agreement", {"top1_margin_ratio": _of_classes("margin_ratio")}),
)


def _coverage(case: Case) -> dict[str, dict[str, float]]:
    coverage = case.timing.coverage
    return {
        model: {"layers": coverage.layer_share(model), "macs": coverage.mac_share(model)}
        for model in coverage.layers
    }


_layer = Record(
    "A layer, in the order of the run.",
    ("0", layer_facts),
    ("1.estimate", estimate_facts),
    {"parts_mj": lambda pair: {part: energy.value for part, energy in pair[1].parts.items()}},
)

case_facts = Record(
    "A network on a runtime.",
    "network chip stack ideal_cpu vtcm_mb runtime",
    anchor_keys,
    "as_simulated given overrides perf_profile buffer",
    "total_inference_us=timing.total_us forward_propagate_us=timing.forward_us",
    {
        "measured_ms": _by_figure(measured_ms),
        "measured_outcome": measured_outcome,
        "uncertainty": (lambda case: case if case.uncertainty else None, _uncertainty),
        "draws": ("drawn", Record("", {"count": lambda drawn: len(drawn.times)}, _bounds)),
        "initialisation_total_us": "timing.init_ps",
        "initialisation_us": lambda case: {part.name: part.us for part in case.timing.init},
        "overheads_us": lambda case: {part.name: part.us for part in case.timing.overheads},
        "coverage": _coverage,
        "memory": ("memory", memory_facts),
        "energy": ("energy", energy_facts),
        "accuracy": (lambda case: case if case.agreement else None, _accuracy),
        "background": ("interference", _background),
        "layers": (lambda case: zip(case.timing.layers, case.energy.layers, strict=True), [_layer]),
    },
)

benchmark_facts = Record(
    "What bench and profile found.",
    {"results": ("cases", [case_facts])},
    {"refused": lambda result: result.refused or ()},
    {"orders": lambda result: orders(result.cases)},
    results="cases refused",
)


_CASE = ("network", "chip", "stack", "runtime", "perf_profile")
HEADER = (
    *_CASE,
    *("row", "engine", "us", "us_low", "us_high", "bytes", "mj", "mj_low", "mj_high"),
)


def benchmark_csv(cases: Sequence[Case]) -> str:
    """Return the cases as CSV text; times in microseconds.

    The rows are those of snpe_bench.py (`hexsim.reports.benchmark.row_names`): initialisation,
    inference, then `layer_000 (Name:data Type:data)` and so on, numbered as snpe-dlc-info numbers
    layers, with the inputs of the network first. `us_low` and `us_high` are the bounds of the
    uncertainty interval and empty without one. `bytes` is the peak of memory in the row of the
    total, and the live activations in rows of layers. `mj`, `mj_low` and `mj_high` are the energy
    of the total and of layers.
    """
    which = attrgetter(*_CASE)
    return csv_text(HEADER, ((*which(case), *row) for case in cases for row in _rows(case)))


def _rows(case: Case) -> Iterator[tuple[str, ...]]:
    timing, interval = case.timing, case.uncertainty
    times = (interval.low, interval.high) if interval else ()
    swept = ("Total Inference Time", "Forward Propagate Time")
    for name, duration_ps in (*initialisation(timing), *inference(timing)):
        bounds = [f"{time[swept.index(name)]:.3f}" for time in times if name in swept] or ["", ""]
        is_total = name == swept[0]
        peak = f"{case.memory.peak_bytes}" if is_total else ""
        energy_cells = _mj(case.energy.estimate if is_total else None)
        yield IN_CSV.get(name, name), "", _us(duration_ps), *bounds, peak, *energy_cells
    live = {layer.name: f"{layer.live_bytes}" for layer in case.memory.layers}
    layer_rows = [(name, "data", "", 0, _mj(None)) for name in case.inputs]
    layer_rows += [
        (layer.name, layer.type, layer.engine, layer.duration_ps, _mj(energy_cells.estimate))
        for layer, energy_cells in zip(timing.layers, case.energy.layers, strict=True)
    ]
    for index, (name, kind, engine, duration_ps, mj) in enumerate(layer_rows):
        row = f"layer_{index:03d} (Name:{name} Type:{kind})"
        yield row, engine, _us(duration_ps), "", "", live.get(name, "") if engine else "", *mj


def _mj(estimate: Estimate | None) -> tuple[str, str, str]:
    if estimate is None:
        return "", "", ""
    return f"{estimate.value:.6f}", f"{estimate.low:.6f}", f"{estimate.high:.6f}"


def _us(duration_ps: int) -> str:
    return f"{duration_ps / 1e6:.3f}"
