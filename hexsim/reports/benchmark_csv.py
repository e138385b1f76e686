"""The results of a benchmark as CSV: one row per figure, with the row names of snpe_bench."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from hexsim.energy import EnergyEstimate
from hexsim.reports.csv_text import csv_text
from hexsim.reports.row_names import IN_CSV, inference, initialisation
from hexsim.studies.benchmark import Case

HEADER = (
    "network",
    "chip",
    "stack",
    "runtime",
    "perf_profile",
    "row",
    "engine",
    "us",
    "us_low",
    "us_high",
    "bytes",
    "mj",
    "mj_low",
    "mj_high",
)


def benchmark_csv(cases: Sequence[Case]) -> str:
    """Return the cases as CSV text; times in microseconds.

    The rows are those of snpe_bench.py (`hexsim.reports.row_names`): initialisation, inference,
    then `layer_000 (Name:data Type:data)` and so on, numbered as snpe-dlc-info numbers layers, with
    the inputs of the network first. `us_low` and `us_high` are the bounds of the uncertainty
    interval and empty without one. aip with HTA sections always has one, from the constants of the
    tensor engine. `bytes` is the peak of memory in the row of the total, and the live activations
    in rows of layers. `mj`, `mj_low` and `mj_high` are the energy of the total and of layers.
    """
    return csv_text(HEADER, (_shared(case) + row for case in cases for row in _rows(case)))


def _shared(case: Case) -> tuple[str, ...]:
    return case.network, case.chip, case.stack, case.runtime, case.perf_profile


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


def _mj(estimate: EnergyEstimate | None) -> tuple[str, str, str]:
    if estimate is None:
        return "", "", ""
    return f"{estimate.value:.6f}", f"{estimate.low:.6f}", f"{estimate.high:.6f}"


def _us(duration_ps: int) -> str:
    return f"{duration_ps / 1e6:.3f}"
