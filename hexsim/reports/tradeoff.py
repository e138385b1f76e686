"""The choices between float and quantised files as a table, JSON and CSV."""

from collections.abc import Sequence

from hexsim.accuracy.classification import Hits
from hexsim.reports.document import Record
from hexsim.reports.text import table
from hexsim.studies.tradeoff import TradeoffChoice
from hexsim.texts.figures import decibels, figure, percent
from hexsim.timing.results import Result
from hexsim.timing.simtime import PS_PER_MS

_MIB = 2**20


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
    head = (choice.file, figure(choice.file_bytes / _MIB), choice.runtime)
    timing, memory, accuracy = choice.timing, choice.memory, choice.accuracy
    if timing is None or memory is None or accuracy is None:
        return (*head, *[""] * (6 if labelled else 5), "refused")
    hits = accuracy.hits
    right = (percent(hits.runtime_top1 / hits.inputs),) if labelled else ()
    return (
        *head,
        figure(timing.init_ps / PS_PER_MS),
        figure(timing.total_ps / PS_PER_MS),
        figure(memory.peak_bytes / _MIB),
        *right,
        f"{hits.same_top1}/{hits.inputs}",
        decibels(accuracy.sqnr_db),
        _loading(choice.loading, timing),
    )


def _loading(words: str, timing: Result) -> str:
    """Return how the runtime loads the file, and how long that part of initialisation takes."""
    spent_ps = sum(map(timing.init_part_ps, ("quantize", "dequantize")))
    return f"{words} ({figure(spent_ps / PS_PER_MS)} ms)" if spent_ps else words


choice_facts = Record(
    "A file on a runtime; winners against labels only with labels.",
    ("0", "file file_bytes runtime loading refusal"),
    ("0", "initialisation_us=timing.init_ps total_inference_us=timing.total_us"),
    ("0", "forward_propagate_us=timing.forward_us peak_memory_bytes=memory.peak_bytes"),
    ("0", "inputs=accuracy.hits.inputs same_top1=accuracy.hits.same_top1"),
    "runtime_top1=1.runtime_top1 float_top1=1.float_top1 sqnr_db=0.accuracy.sqnr_db",
)


def _with_winners(
    choices: Sequence[TradeoffChoice], labelled: bool
) -> list[tuple[TradeoffChoice, Hits | None]]:
    return [(c, c.accuracy.hits if labelled and c.accuracy else None) for c in choices]


tradeoff_facts = Record(
    "What tradeoff found.",
    "network chip=where.0 stack=where.1 notes",
    {"choices": (lambda result: _with_winners(result.choices, result.labelled), [choice_facts])},
    results="network where notes choices labelled",
)


def tradeoff_csv(choices: Sequence[TradeoffChoice], labelled: bool) -> str:
    """Return a row per choice; unknown values are empty."""
    return choice_facts.csv(_with_winners(choices, labelled))
