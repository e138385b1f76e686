"""The choices between float and quantised files as a table, JSON and CSV."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

from hexsim.reports.csv_text import csv_text
from hexsim.reports.document import json_document, plain
from hexsim.reports.text import table
from hexsim.studies.tradeoff import TradeoffChoice
from hexsim.timing.results import Result
from hexsim.timing.simtime import PS_PER_MS, PS_PER_US

_MB = 2**20


def tradeoff_table(choices: Sequence[TradeoffChoice], *, labelled: bool) -> str:
    """Return the choices in their order, and below them why some are refused.

    With labels there is a column for the share of inputs that were classified right.
    """
    right = ("top-1",) if labelled else ()
    header = (
        *("file", "MiB", "runtime", "init ms", "inference ms", "peak MiB"),
        *(*right, "same as float", "SQNR dB", "at load"),
    )
    rows = [_row(choice, labelled) for choice in choices]
    first_to_go = [header.index(name) for name in ("peak MiB", "init ms", "at load", "MiB")]
    text = table(header, rows, left=frozenset({0, 2, len(header) - 1}), first_to_go=first_to_go)
    refused = [choice for choice in choices if choice.refusal]
    return "\n".join(
        [text, *(f"{choice.file} on {choice.runtime}: {choice.refusal}" for choice in refused)]
    )


def _row(choice: TradeoffChoice, labelled: bool) -> tuple[str, ...]:
    head = (choice.file, f"{choice.file_bytes / _MB:.2f}", choice.runtime)
    timing, memory, accuracy = choice.timing, choice.memory, choice.accuracy
    if timing is None or memory is None or accuracy is None:
        return (*head, *[""] * (6 if labelled else 5), "refused")
    hits, sqnr_db = accuracy.hits, accuracy.sqnr_db
    right = (f"{hits.runtime_top1 / hits.inputs:.2%}",) if labelled else ()
    return (
        *head,
        f"{timing.init_ps / PS_PER_MS:.2f}",
        f"{timing.total_ps / PS_PER_MS:.2f}",
        f"{memory.peak_bytes / _MB:.2f}",
        *right,
        f"{hits.same_top1}/{hits.inputs}",
        "exact" if math.isinf(sqnr_db) else f"{sqnr_db:.1f}",
        _loading(choice.loading, timing),
    )


def _loading(words: str, timing: Result) -> str:
    """Return how the runtime loads the file, and how long that part of initialisation takes."""
    spent_ps = sum(map(timing.init_part_ps, ("quantize", "dequantize")))
    return f"{words} ({spent_ps / PS_PER_MS:.2f} ms)" if spent_ps else words


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
        "network": network,
        "chip": where[0],
        "stack": where[1],
        "notes": list(notes),
        "choices": [dict(zip(HEADER, _values(c, labelled), strict=True)) for c in choices],
    }
    return json_document(document)


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
        plain(accuracy.sqnr_db),
    )
