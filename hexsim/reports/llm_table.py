"""The speed of a language model as tables, and as JSON."""

from collections.abc import Sequence
from dataclasses import dataclass

from hexsim.llm.gains import Gain
from hexsim.llm.study import SHARES, LanguageModelSpeed, Pass
from hexsim.reports.document import Record
from hexsim.reports.inference.energy import estimate_facts, ranged
from hexsim.reports.text import number, table
from hexsim.texts.figures import figure, percent

_GB = 1e9


@dataclass(frozen=True)
class Section:
    """A table under a title; `remark` are sentences after it."""

    title: str
    header: tuple[str, ...]
    rows: Sequence[tuple[str, ...]]
    remark: str


def llm_text(speed: LanguageModelSpeed, changes: Sequence[Gain] = ()) -> str:
    """Return tables of speeds, of where the time goes, of memory, and of what `changes` gain."""
    blocks = [title(speed), headline(speed)]
    for section in sections(speed, changes):
        blocks += [table(section.header, section.rows), section.remark]
    return "\n\n".join(blocks)


def title(speed: LanguageModelSpeed) -> str:
    """Return which model is on which platform."""
    weights = f"{figure(speed.architecture.parameters / 1e9)} billion weights"
    chip, software = speed.platform.chip.name, speed.platform.software
    return f"{speed.architecture.name} ({weights}) on {chip}, {software}"


def headline(speed: LanguageModelSpeed) -> str:
    """Return the rate and the times in one sentence."""
    conditions = speed.conditions
    return (
        f"{figure(speed.tokens_per_second)} tokens/s, first token after "
        f"{figure(speed.first_token_s(conditions.prompt))} s for {conditions.prompt} tokens of "
        f"prompt; {figure(speed.total_s)} s with {number(conditions.generate, 'generated token')}"
    )


def sections(speed: LanguageModelSpeed, changes: Sequence[Gain] = ()) -> list[Section]:
    """Return all tables, that of `changes` only if there are any."""
    made = [_prompts(speed), _positions(speed), _shares(speed), _fit(speed)]
    return [*made, *([_gains(speed, changes)] if changes else [])]


def _gains(speed: LanguageModelSpeed, changes: Sequence[Gain]) -> Section:
    first_s = speed.first_token_s(speed.conditions.prompt)
    rows = [
        (
            gain.change,
            figure(gain.tokens_per_second),
            percent(gain.tokens_per_second / speed.tokens_per_second - 1, "+"),
            figure(1e3 * gain.first_token_s),
            percent(gain.first_token_s / first_s - 1, "+"),
            figure(gain.peak_bytes / _GB),
        )
        for gain in changes
    ]
    head = ("what if", "tokens/s", "change", "first token ms", "change", "peak GB")
    return Section("What would help", head, rows, "Each change alone, simulated anew.")


def _prompts(speed: LanguageModelSpeed) -> Section:
    rows = [(f"{prompt}", figure(1e3 * speed.first_token_s(prompt))) for prompt in prompts(speed)]
    header, remark = ("prompt", "first token ms"), "A prompt is processed in whole blocks."
    return Section("Time to the first token", header, rows, remark)


def prompts(speed: LanguageModelSpeed) -> list[int]:
    """Return the lengths of prompts to report: one block, doubled, and the one asked for."""
    lengths, length = {speed.conditions.prompt}, speed.conditions.block
    while length < speed.conditions.context:
        lengths.add(length)
        length *= 2
    return sorted({*lengths, speed.conditions.context})


def _positions(speed: LanguageModelSpeed) -> Section:
    rows = [(f"1 to {context}", figure(rate)) for context, rate in speed.by_context.items()]
    remark = (
        "A graph attends to the whole context it was compiled for, so its speed is the same at all "
        "positions."
    )
    return Section("Tokens per second", ("positions", "tokens/s"), rows, remark)


def _shares(speed: LanguageModelSpeed) -> Section:
    passes = (speed.token, speed.block)
    rows = [
        (name, *(cell for run in passes for cell in _spent(run, run.parts_s[name])))
        for name in SHARES
    ]
    rows.append(("total", *(cell for run in passes for cell in _spent(run, run.seconds))))
    block = f"block of {speed.conditions.block}"
    header = ("time", "token ms", "share", f"{block} ms", "share")
    remark = "A layer takes as long as the slowest of computing and fetching its weights."
    return Section("Where the time goes", header, rows, remark)


def _spent(run: Pass, seconds: float) -> tuple[str, str]:
    """Return a part of a pass in ms, and its share."""
    return figure(1e3 * seconds), f"{seconds / run.seconds:.0%}"


def _fit(speed: LanguageModelSpeed) -> Section:
    memory, largest = speed.memory, max(speed.part_sizes)
    names = ("weights", "embedding", "cache", "activations", "peak", "peak_without_sharing")
    rows = [(name.replace("_", " "), figure(getattr(memory, name) / _GB)) for name in names]
    remark = (
        f"Fits in {number(len(speed.parts), 'part')} of at most "
        f"{speed.conditions.part_gb:g} GB; the largest has {figure(largest / _GB)} GB of weights "
        f"and cache.\nA token moves {figure(speed.token.ddr_bytes / _GB)} GB from and to DDR, "
        f"a block {figure(speed.block.ddr_bytes / _GB)} GB.\n"
        f"A token takes {ranged(speed.token.energy)} mJ, a block "
        f"{ranged(speed.block.energy)} mJ, by assumed constants."
    )
    return Section("Memory, traffic and energy", ("memory", "GB"), rows, remark)


_pass = Record(
    "A pass through all parts of the model.",
    {
        "ms": lambda run: 1e3 * run.seconds,
        "parts_ms": lambda run: {name: 1e3 * seconds for name, seconds in run.parts_s.items()},
        "ddr_bytes": "ddr_bytes",
        "energy": ("energy", estimate_facts),
    },
)

_part = Record(
    "A part of the model.",
    "first_layer=0.first",
    {"layers": lambda part: len(part[0].layers)},
    "head=0.head bytes=1",
)

_gain = Record(
    "A change that could help, simulated anew.",
    "change tokens_per_second peak_bytes",
    {"first_token_ms": lambda gain: 1e3 * gain.first_token_s},
)


def _first_token_ms(speed: LanguageModelSpeed) -> dict[str, float]:
    return {str(prompt): 1e3 * speed.first_token_s(prompt) for prompt in prompts(speed)}


llm_facts = Record(
    "The speed and the memory of a language model; contexts and prompts in tokens.",
    (
        "speed",
        "chip=platform.chip.name stack=platform.stack.name vtcm_mb=platform.vtcm_mb architecture "
        "conditions parameters=architecture.parameters tokens_per_second",
        {
            "tokens_per_second_by_context": lambda speed: {
                str(context): rate for context, rate in speed.by_context.items()
            },
            "first_token_ms": _first_token_ms,
            "total_ms": lambda speed: 1e3 * speed.total_s,
            "token": ("token", _pass),
            "block": ("block", _pass),
            "memory_bytes": (
                "memory",
                Record("", "weights embedding cache activations peak peak_without_sharing"),
            ),
            "parts": (
                lambda speed: zip(speed.parts, speed.part_sizes, strict=True),
                [_part],
            ),
        },
    ),
    {"what_if": (lambda result: result.changes or (), [_gain])},
    results="speed changes",
)
