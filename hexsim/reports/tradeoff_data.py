"""The choices between float and quantised files as JSON and CSV, with the same columns."""

from __future__ import annotations

import json
import math
from collections.abc import Sequence
from typing import Any

from hexsim import __version__
from hexsim.reports.csv_text import csv_text
from hexsim.studies.tradeoff import TradeoffChoice
from hexsim.timing.simtime import PS_PER_US

HEADER = (
    *("file", "file_bytes", "runtime", "loading", "refusal", "initialisation_us"),
    *("total_inference_us", "forward_propagate_us", "peak_memory_bytes"),
    *("inputs", "same_top1", "runtime_top1", "float_top1", "sqnr_db"),
)


def tradeoff_json(
    network: str,
    where: tuple[str, str],
    notes: Sequence[str],
    choices: Sequence[TradeoffChoice],
    labelled: bool,
) -> str:
    """Return the choices as a JSON document; times in microseconds, unknown values null.

    `where` names chip and stack.
    """
    document = {
        "hexsim_version": __version__,
        "network": network,
        "chip": where[0],
        "stack": where[1],
        "notes": list(notes),
        "choices": [dict(zip(HEADER, _values(c, labelled), strict=True)) for c in choices],
    }
    return json.dumps(document, indent=1, allow_nan=False) + "\n"


def tradeoff_csv(choices: Sequence[TradeoffChoice], labelled: bool) -> str:
    """Return a row per choice; unknown values are empty."""
    return csv_text(HEADER, (_values(choice, labelled) for choice in choices))


def _values(choice: TradeoffChoice, labelled: bool) -> tuple[Any, ...]:
    head = (choice.file, choice.file_bytes, choice.runtime, choice.loading, choice.refusal)
    timing, memory, accuracy = choice.timing, choice.memory, choice.accuracy
    if timing is None or memory is None or accuracy is None:
        return (*head, *[None] * (len(HEADER) - len(head)))
    hits = accuracy.hits
    return (
        *head,
        timing.init_ps / PS_PER_US,
        timing.total_us,
        timing.forward_us,
        memory.peak_bytes,
        hits.inputs,
        hits.same_top1,
        *((hits.runtime_top1, hits.float_top1) if labelled else (None, None)),
        accuracy.sqnr_db if math.isfinite(accuracy.sqnr_db) else None,
    )
