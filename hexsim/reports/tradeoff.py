"""The choices between float and quantised files as a table, JSON and CSV."""

from collections.abc import Sequence

from hexsim.accuracy.output_errors import each_output
from hexsim.quantization.model import Reference
from hexsim.reports.document import Record
from hexsim.reports.text import table
from hexsim.reports.validation import output_facts
from hexsim.studies.tradeoff import TradeoffChoice
from hexsim.texts.figures import decibels, figure, percent
from hexsim.timing.results import Result
from hexsim.timing.simtime import PS_PER_MS

_MIB = 2**20


def tradeoff_table(
    choices: Sequence[TradeoffChoice],
    *,
    labelled: bool,
    reference: Reference = "float network",
) -> str:
    """Return the choices in their order, and below them why some are refused, and the outputs.

    With labels there is a column for the share of inputs that were classified right, and of a
    classifier one for those with the same winner as in float.
    """
    classes = all(choice.accuracy.classes for choice in choices if choice.accuracy)
    own = "" if reference == "float network" else ", own weights"
    winners = [*["top-1"] * labelled, *["same as float"] * classes]
    header = (
        *("file", "MiB", "runtime", "init ms", "inference ms", "peak MiB"),
        *(*winners, f"SQNR dB{own}", "at load"),
    )
    rows = [_row(choice, labelled, classes) for choice in choices]
    first_to_go = [header.index(name) for name in ("peak MiB", "init ms", "at load", "MiB")]
    text = table(header, rows, left=frozenset({0, 2, len(header) - 1}), first_to_go=first_to_go)
    remarks = {
        f"{choice.file} on {choice.runtime}": choice.refusal
        or (choice.accuracy and each_output(choice.accuracy.outputs))
        for choice in choices
    }
    lines = [f"{where}: {remark}" for where, remark in remarks.items() if remark]
    return "\n".join([text, *lines])


def _row(choice: TradeoffChoice, labelled: bool, classes: bool) -> tuple[str, ...]:
    head = (choice.file, figure(choice.file_bytes / _MIB), choice.runtime)
    timing, memory, accuracy = choice.timing, choice.memory, choice.accuracy
    if timing is None or memory is None or accuracy is None:
        return (*head, *[""] * (4 + labelled + classes), "refused")
    right = accuracy.right
    winners = [] if right is None else [percent(right / accuracy.inputs)]
    winners += [f"{accuracy.top1}/{accuracy.inputs}"] * classes
    return (
        *head,
        figure(timing.init_ps / PS_PER_MS),
        figure(timing.total_ps / PS_PER_MS),
        figure(memory.peak_bytes / _MIB),
        *winners,
        decibels(accuracy.sqnr_db),
        _loading(choice.loading, timing),
    )


def _loading(words: str, timing: Result) -> str:
    """Return how the runtime loads the file, and how long that part of initialisation takes."""
    spent_ps = sum(map(timing.init_part_ps, ("quantize", "dequantize")))
    return f"{words} ({figure(spent_ps / PS_PER_MS)} ms)" if spent_ps else words


choice_facts = Record(
    "A file on a runtime; winners against labels only with labels.",
    "file file_bytes runtime loading refusal",
    "initialisation_us=timing.init_ps total_inference_us=timing.total_us",
    "forward_propagate_us=timing.forward_us peak_memory_bytes=memory.peak_bytes",
    "inputs=accuracy.inputs same_top1=accuracy.top1",
    "runtime_top1=accuracy.right float_top1=accuracy.float_right sqnr_db=accuracy.sqnr_db",
)

_outputs = {"outputs": ("accuracy.outputs", [output_facts])}

tradeoff_facts = Record(
    "What tradeoff found.",
    "network chip=where.0 stack=where.1 notes",
    {"choices": ("choices", [Record(choice_facts.about, choice_facts, _outputs)])},
    results="network where notes choices",
)
