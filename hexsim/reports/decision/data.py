"""A decision as JSON and CSV."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict
from typing import Any

from hexsim import __version__
from hexsim.reports.csv_text import csv_text
from hexsim.reports.document import anchor_facts, json_document
from hexsim.studies.decision import Decision, DecisionCandidate
from hexsim.studies.decision.ranking import rule

HEADER = (
    *("rank", "mode", "quantizer_words", "float_tensors", "chip", "stack", "runtime", "cut"),
    *("hta_partitions", "total_inference_us", "low_us", "high_us", "forward_propagate_us"),
    *("initialisation_us", "parameter_bytes", "peak_bytes"),
    *("energy_mj", "energy_low_mj", "energy_high_mj", "inputs", "same_top1"),
    *("runtime_top1", "loss_points", "sqnr_db", "in_front"),
)


def decision_facts(decision: Decision, commands: Sequence[str]) -> dict[str, Any]:
    """Return a decision as data; times in microseconds, unknown values as None."""
    return {
        "hexsim_version": __version__,
        "network": decision.network,
        **anchor_facts(decision.anchor),
        "inputs": decision.items,
        "notes": list(decision.notes),
        "prefer": decision.prefer,
        "rule": rule(decision.prefer),
        "limits": asdict(decision.limits),
        "float_top1": decision.float_top1,
        "choices": [dict(zip(HEADER, row, strict=True)) for row in _rows(decision)],
        "sure": list(decision.sure),
        "changes": [{**asdict(change), "gain": change.gain} for change in decision.changes],
        "ruled_out": [asdict(candidate) for candidate in decision.ruled_out],
        "commands": list(commands),
    }


def decision_json(decision: Decision, commands: Sequence[str]) -> str:
    """Return the facts as a document."""
    return json_document(decision_facts(decision, commands))


def decision_csv(decision: Decision) -> str:
    """Return a row per choice, best first."""
    rows = (
        [" ".join(cell) if isinstance(cell, list) else cell for cell in row]
        for row in _rows(decision)
    )
    return csv_text(HEADER, rows)


def _rows(decision: Decision) -> list[tuple[Any, ...]]:
    return [_row(rank, candidate) for rank, candidate in enumerate(decision.ranked, start=1)]


def _row(rank: int, candidate: DecisionCandidate) -> tuple[Any, ...]:
    timed, accuracy, drawn = candidate.timed, candidate.accuracy, candidate.drawn
    assert accuracy is not None, "only candidates with accuracy are ranked"
    return (
        *(
            rank,
            candidate.mode.name,
            list(candidate.mode.words),
            list(candidate.mode.floats),
            candidate.chip,
            candidate.stack,
        ),
        *(candidate.runtime, timed.cut, timed.sections, timed.total_us),
        *((drawn.low_us, drawn.high_us) if drawn else (None, None)),
        *(timed.forward_us, timed.init_us, timed.file_bytes, timed.peak_bytes),
        *(timed.energy_mj, timed.energy_low_mj, timed.energy_high_mj),
        *(
            accuracy.inputs,
            accuracy.same_top1,
            accuracy.runtime_top1,
            candidate.loss,
            accuracy.sqnr_db,
        ),
        candidate.in_front,
    )
