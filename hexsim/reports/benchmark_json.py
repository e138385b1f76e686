"""The results of a benchmark as JSON."""

from __future__ import annotations

import json
import math
from collections.abc import Sequence
from dataclasses import asdict
from typing import Any

from hexsim import __version__
from hexsim.accuracy.agreement import Agreement
from hexsim.reports.energy_facts import energy_facts, estimate_facts
from hexsim.reports.layer_facts import layer_facts
from hexsim.reports.measured import is_outside, measured, measured_ms
from hexsim.reports.memory_facts import memory_facts
from hexsim.reports.recommendation import orders
from hexsim.studies.benchmark import Case, Refusal
from hexsim.studies.draws import DrawnTimes
from hexsim.studies.interference import Interference
from hexsim.studies.uncertainty import Uncertainty
from hexsim.timing.results import ClientTiming
from hexsim.timing.simtime import PS_PER_US


def benchmark_json(cases: Sequence[Case], refusals: Sequence[Refusal] = ()) -> str:
    """Return the cases as a JSON document; times in microseconds, cycles in the engine's clock."""
    document = {
        "hexsim_version": __version__,
        "results": [case_facts(case) for case in cases],
        "refused": [asdict(refusal) for refusal in refusals],
        "orders": [asdict(order) for order in orders(cases)],
    }
    return json.dumps(document, indent=1) + "\n"


def case_facts(case: Case) -> dict[str, Any]:
    """Return one case as data; times in microseconds, cycles in the engine's clock."""
    timing = case.timing
    return {
        "network": case.network,
        "chip": case.chip,
        "stack": case.stack,
        "ideal_cpu": case.ideal_cpu,
        "anchor": case.anchor,
        "runtime": case.runtime,
        "given": case.given,
        "overrides": None if case.overrides is None else asdict(case.overrides),
        "perf_profile": case.perf_profile,
        "buffer": case.buffer,
        "total_inference_us": timing.total_us,
        "forward_propagate_us": timing.forward_us,
        "measured_ms": {
            "total_inference": measured_ms(case, forward=False),
            "forward_propagate": measured_ms(case, forward=True),
        },
        "uncertainty": _uncertainty(case, case.uncertainty),
        "draws": _draws(case.drawn),
        "initialisation_total_us": timing.init_ps / PS_PER_US,
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
        "alone_us": interference.total.alone_ps / PS_PER_US,
        "mean_us": interference.total.beside_ps / PS_PER_US,
        "worst_us": interference.worst_ps / PS_PER_US,
        "parts": {
            part.name: {
                "alone_us": part.alone_ps / PS_PER_US,
                "mean_us": part.beside_ps / PS_PER_US,
            }
            for part in interference.parts
        },
        "clients": [
            {
                "name": beside.name,
                "unit": beside.unit,
                "deadline_us": beside.deadline_ps / PS_PER_US,
                "jobs": beside.released,
                "alone": _client(alone),
                "beside": _client(beside),
            }
            for alone, beside in interference.clients
        ],
    }


def _client(client: ClientTiming) -> dict[str, Any]:
    return {
        "missed": client.missed,
        "skipped": client.skipped,
        "mean_us": client.mean_ps / PS_PER_US,
        "worst_us": client.worst_ps / PS_PER_US,
    }


def _uncertainty(case: Case, uncertainty: Uncertainty | None) -> dict[str, Any] | None:
    if uncertainty is None:
        return None
    return {
        "swept": uncertainty.scope,
        "total_inference_us": [uncertainty.low.total_us, uncertainty.high.total_us],
        "forward_propagate_us": [uncertainty.low.forward_us, uncertainty.high.forward_us],
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
                "stated_by": sensitivity.sheet,
                "constant": sensitivity.path,
                "unit": sensitivity.constant.unit,
                "confidence": sensitivity.constant.confidence,
                "source": sensitivity.constant.source,
                "value": sensitivity.constant.value,
                "interval": [sensitivity.low, sensitivity.high],
                "total_inference_us": [sensitivity.at_low.total_us, sensitivity.at_high.total_us],
                "share": share,
            }
            for sensitivity, share in zip(uncertainty.swings, uncertainty.shares, strict=True)
        ],
    }


def _draws(drawn: DrawnTimes | None) -> dict[str, Any] | None:
    if drawn is None:
        return None
    return {
        "count": len(drawn.times),
        "total_inference_us": [drawn.low.total_us, drawn.high.total_us],
        "forward_propagate_us": [drawn.low.forward_us, drawn.high.forward_us],
    }


def _accuracy(agreement: Agreement | None, evaluated: str) -> dict[str, Any] | None:
    if agreement is None:
        return None
    margin = agreement.margin_ratio
    return {
        "compared_on": evaluated,
        "inputs": agreement.inputs,
        "sqnr_db": agreement.sqnr_db if math.isfinite(agreement.sqnr_db) else None,
        "top1_agreement": agreement.top1 if agreement.classes else None,
        "top1_margin_ratio": margin if agreement.classes and math.isfinite(margin) else None,
    }
