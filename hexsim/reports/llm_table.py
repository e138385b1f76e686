"""The speed of a language model as tables."""

from collections.abc import Sequence
from dataclasses import dataclass

from hexsim.reports.inference.energy import millijoules
from hexsim.reports.text import number, table
from hexsim.results.language_model import LanguageModel, Pass
from hexsim.texts.figures import figure, percent

_GB = 1e9


@dataclass(frozen=True)
class TitledTable:
    """A table under a title; `remark` are sentences after it."""

    title: str
    header: tuple[str, ...]
    rows: Sequence[tuple[str, ...]]
    remark: str


def llm_text(speed: LanguageModel) -> str:
    """Return tables of speeds, of where the time goes, of memory, and of what changes gain."""
    blocks = [title(speed), headline(speed)]
    for section in sections(speed):
        blocks += [table(section.header, section.rows), section.remark]
    return "\n\n".join(blocks)


def title(speed: LanguageModel) -> str:
    """Return which model is on which platform."""
    weights = f"{figure(speed.parameters / 1e9)} billion weights"
    chip, software = speed.chip, speed.software
    return f"{speed.architecture.name} ({weights}) on {chip}, {software}"


def headline(speed: LanguageModel) -> str:
    """Return the rate and the times in one sentence."""
    prompt = speed.conditions.prompt
    first, whole = figure(speed.first_token_ms[prompt] / 1e3), figure(speed.total_ms / 1e3)
    return (
        f"{figure(speed.tokens_per_second)} tokens/s, first token after {first} s for {prompt} "
        f"tokens of prompt; {whole} s with {number(speed.conditions.generate, 'generated token')}"
    )


def sections(speed: LanguageModel) -> list[TitledTable]:
    """Return all tables, that of changes only if there are any."""
    made = [_prompts(speed), _positions(speed), _shares(speed), _fit(speed)]
    return [*made, *([_gains(speed)] if speed.what_if else [])]


def _gains(speed: LanguageModel) -> TitledTable:
    first_ms = speed.first_token_ms[speed.conditions.prompt]
    rows = [
        (
            gain.change,
            figure(gain.tokens_per_second),
            percent(gain.tokens_per_second / speed.tokens_per_second - 1, "+"),
            figure(gain.first_token_ms),
            percent(gain.first_token_ms / first_ms - 1, "+"),
            figure(gain.peak_bytes / _GB),
        )
        for gain in speed.what_if
    ]
    head = ("what if", "tokens/s", "change", "first token ms", "change", "peak GB")
    return TitledTable("What would help", head, rows, "Each change alone, simulated anew.")


def _prompts(speed: LanguageModel) -> TitledTable:
    rows = [(f"{prompt}", figure(ms)) for prompt, ms in speed.first_token_ms.items()]
    header, remark = ("prompt", "first token ms"), "A prompt is processed in whole blocks."
    return TitledTable("Time to the first token", header, rows, remark)


def _positions(speed: LanguageModel) -> TitledTable:
    by_context = speed.tokens_per_second_by_context
    rows = [(f"1 to {context}", figure(rate)) for context, rate in by_context.items()]
    remark = (
        "A graph attends to the whole context it was compiled for, so its speed is the same at all "
        "positions."
    )
    return TitledTable("Tokens per second", ("positions", "tokens/s"), rows, remark)


def _shares(speed: LanguageModel) -> TitledTable:
    passes = (speed.token, speed.block)
    rows = [
        (name, *(cell for run in passes for cell in _spent(run, run.parts_ms[name])))
        for name in speed.token.parts_ms
    ]
    rows.append(("total", *(cell for run in passes for cell in _spent(run, run.ms))))
    block = f"block of {speed.conditions.block}"
    header = ("time", "token ms", "share", f"{block} ms", "share")
    remark = "A layer takes as long as the slowest of computing and fetching its weights."
    return TitledTable("Where the time goes", header, rows, remark)


def _spent(run: Pass, ms: float) -> tuple[str, str]:
    """Return a part of a pass in ms, and its share."""
    return figure(ms), f"{ms / run.ms:.0%}"


def _fit(speed: LanguageModel) -> TitledTable:
    memory, largest = speed.memory_bytes, max(part.bytes for part in speed.parts)
    names = ("weights", "embedding", "cache", "activations", "peak", "peak_without_sharing")
    rows = [(name.replace("_", " "), figure(getattr(memory, name) / _GB)) for name in names]
    remark = (
        f"Fits in {number(len(speed.parts), 'part')} of at most "
        f"{speed.conditions.part_gb:g} GB; the largest has {figure(largest / _GB)} GB of weights "
        f"and cache.\nA token moves {figure(speed.token.ddr_bytes / _GB)} GB from and to DDR, "
        f"a block {figure(speed.block.ddr_bytes / _GB)} GB.\n"
        f"A token takes {millijoules(speed.token.energy)} mJ, a block "
        f"{millijoules(speed.block.energy)} mJ, by assumed constants."
    )
    return TitledTable("Memory, traffic and energy", ("memory", "GB"), rows, remark)
