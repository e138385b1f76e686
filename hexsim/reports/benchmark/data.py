"""The results of a benchmark as JSON, and as CSV with the row names of snpe_bench."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from typing import Any

from hexsim.accuracy.agreement import Agreement
from hexsim.datasheets.estimate import Estimate
from hexsim.reports.benchmark.measured import is_outside, measured, measured_ms, measured_outcome
from hexsim.reports.benchmark.recommendation import orders
from hexsim.reports.benchmark.row_names import IN_CSV, inference, initialisation
from hexsim.reports.csv_text import csv_text
from hexsim.reports.document import anchor_facts, attributes, json_document
from hexsim.reports.inference.energy import energy_facts, estimate_facts
from hexsim.reports.inference.layer import layer_facts
from hexsim.reports.inference.memory import memory_facts
from hexsim.studies.benchmark import Case, Refusal
from hexsim.studies.draws import DrawnTimes
from hexsim.studies.interference import Interference
from hexsim.studies.uncertainty import Times, Uncertainty
from hexsim.timing.results import ClientTiming, Result


def benchmark_json(cases: Sequence[Case], refusals: Sequence[Refusal] = ()) -> str:
    """Return the cases as a JSON document; times in microseconds, cycles in the engine's clock."""
    document = {
        "results": [case_facts(case) for case in cases],
        "refused": refusals,
        "orders": orders(cases),
    }
    return json_document(document)


def case_facts(case: Case) -> dict[str, Any]:
    """Return one case as data; times in microseconds, cycles in the engine's clock."""
    timing = case.timing
    return {
        **attributes(case, "network", "chip", "stack", "ideal_cpu", "vtcm_mb", "runtime"),
        **anchor_facts(case.anchor),
        "as_simulated": case.as_simulated,
        **attributes(case, "given", "overrides", "perf_profile", "buffer"),
        **_times(timing),
        "measured_ms": {
            "total_inference": measured_ms(case, forward=False),
            "forward_propagate": measured_ms(case, forward=True),
        },
        "measured_outcome": measured_outcome(case),
        "uncertainty": _uncertainty(case, case.uncertainty),
        "draws": _draws(case.drawn),
        **attributes(timing, initialisation_total_us="init_ps"),
        "initialisation_us": {part.name: part.us for part in timing.init},
        "overheads_us": {part.name: part.us for part in timing.overheads},
        "coverage": {
            model: {
                "layers": timing.coverage.layer_share(model),
                "macs": timing.coverage.mac_share(model),
            }
            for model in timing.coverage.layers
        },
        "memory": memory_facts(case.memory),
        "energy": energy_facts(case.energy),
        "accuracy": _accuracy(case.agreement, case.evaluated),
        "background": _background(case.interference),
        "layers": [
            layer_facts(layer)
            | estimate_facts(layer_energy.estimate)
            | {"parts_mj": {part: estimate.value for part, estimate in layer_energy.parts.items()}}
            for layer, layer_energy in zip(timing.layers, case.energy.layers, strict=True)
        ],
    }


def _background(interference: Interference | None) -> dict[str, Any] | None:
    if interference is None:
        return None
    return {
        "loads": interference.names,
        "inferences": len(interference.beside.inferences),
        **attributes(interference.total, alone_us="alone_ps", mean_us="beside_ps"),
        **attributes(interference, worst_us="worst_ps"),
        "parts": {
            part.name: attributes(part, alone_us="alone_ps", mean_us="beside_ps")
            for part in interference.parts
        },
        "clients": [
            {
                **attributes(beside, "name", "unit", deadline_us="deadline_ps", jobs="released"),
                "alone": _client(alone),
                "beside": _client(beside),
            }
            for alone, beside in interference.clients
        ],
    }


def _client(client: ClientTiming) -> dict[str, Any]:
    return attributes(client, "missed", "skipped", mean_us="mean_ps", worst_us="worst_ps")


def _times(timing: Result | Times) -> dict[str, float]:
    return attributes(timing, total_inference_us="total_us", forward_propagate_us="forward_us")


def _bounds(low: Times, high: Times) -> dict[str, list[float]]:
    highest = _times(high)
    return {key: [us, highest[key]] for key, us in _times(low).items()}


def _uncertainty(case: Case, uncertainty: Uncertainty | None) -> dict[str, Any] | None:
    if uncertainty is None:
        return None
    return {
        "swept": uncertainty.scope,
        **_bounds(uncertainty.low, uncertainty.high),
        "measured_outside_ms": {
            name: [
                row.latency_ms
                for row in measured(case, forward=forward)
                if is_outside(row, uncertainty)
            ]
            for name, forward in (("total_inference", False), ("forward_propagate", True))
        },
        "constants": [
            {
                **attributes(sensitivity, stated_by="datasheet", constant="path"),
                **attributes(sensitivity.constant, "unit", "confidence", "source", "value"),
                "interval": [sensitivity.low, sensitivity.high],
                "total_inference_us": [sensitivity.at_low.total_us, sensitivity.at_high.total_us],
                "share": share,
            }
            for sensitivity, share in zip(
                uncertainty.sensitivities, uncertainty.shares, strict=True
            )
        ],
    }


def _draws(drawn: DrawnTimes | None) -> dict[str, Any] | None:
    if drawn is None:
        return None
    return {"count": len(drawn.times), **_bounds(drawn.low, drawn.high)}


def _accuracy(agreement: Agreement | None, evaluated: str) -> dict[str, Any] | None:
    if agreement is None:
        return None
    margin = agreement.margin_ratio
    return {
        "compared_on": evaluated,
        "inputs": agreement.inputs,
        "sqnr_db": agreement.sqnr_db if math.isfinite(agreement.sqnr_db) else None,
        "top1_agreement": agreement.top1 if agreement.classes else None,
        **attributes(agreement, top1_right="right", float_top1_right="float_right"),
        "top1_margin_ratio": margin if agreement.classes and math.isfinite(margin) else None,
    }


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
    rows = ((*attributes(case, *_CASE).values(), *row) for case in cases for row in _rows(case))
    return csv_text(HEADER, rows)


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
