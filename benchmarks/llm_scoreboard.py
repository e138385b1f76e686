"""How well speeds of language models are predicted, beside simpler rules: docs/results/llm.md.

python -m benchmarks.llm_scoreboard    prints the tables and the fitted constants

`python -m benchmarks.accuracy_of_times FOLDER --write` writes them, with all that is made of them.
The rows are those of llm_latency.csv; the configurations of their models, in llm_configs, have the
public numbers of the architectures. Every prediction is of a model (or chip) that its constants
have not seen. The rules beside the model are: the bytes of a token over the bandwidth of DDR, for a
block the slower of these and multiply-adds over the peak of HMX; the same plus a constant; and a
factor times the same plus a constant, which has as many fitted constants as the model.
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path

import numpy as np

from benchmarks.htp_schedule import scaled, schedule
from benchmarks.measured.llm import LlmRow, llm_rows
from benchmarks.pages import RESULTS
from hexsim.deployment.platform import Platform
from hexsim.htp.compiler import HtpOperation, compile_graph
from hexsim.htp.machine import HtpMachine
from hexsim.llm.architecture import Architecture, read_architecture
from hexsim.llm.network import Conditions, Widths
from hexsim.studies.language_model import GIGABYTE, LayerSpan, deployment_of, split

PAGE = RESULTS / "llm.md"
CONFIGS = Path(__file__).with_name("llm_configs")
FITTED = ("ordered_vectors", "unpacked_vectors")
"""Constants of the release that are fitted to the rows."""
_ORDERED = tuple(round(0.5 + 0.05 * step, 2) for step in range(91))
_UNPACKED = tuple(round(0.8 + 0.05 * step, 2) for step in range(125))
_PUBLIC_EFFICIENCY = {"sdxelite": 0.41}
"""What is public where a chip's share of the DDR peak is fitted: the rate of QCS8550, which has the
same processor."""
_EFFICIENCIES = tuple(round(0.25 + 0.01 * step, 2) for step in range(58))
Constants = tuple[float, float]
Case = tuple[LlmRow, int]
"""A row with 1 for its token, or with the tokens of its block of the prompt."""
Predictor = Callable[[Case, Sequence[Case]], float]
"""Seconds of a case, with constants that were fitted to other cases."""


def cases() -> tuple[Case, ...]:
    """Every measured time; a time to the first token that repeats another row is left out."""
    return tuple(
        (row, tokens)
        for row in llm_rows()
        for tokens in (1, row.block)
        if tokens == 1 or not row.repeats_another
    )


def measured_s(case: Case) -> float:
    """The measured seconds of a case."""
    row, tokens = case
    return 1 / row.tokens_per_second if tokens == 1 else row.block_ms / 1e3


def widths_of(row: LlmRow) -> Widths:
    """4-bit weights beside activations of 16 bits (w4a16) or in float16 (w4)."""
    return Widths(4, "16" if row.precision == "w4a16" else "float")


@functools.cache
def architecture_of(row: LlmRow) -> Architecture:
    """The architecture of a row's model."""
    return read_architecture(CONFIGS / f"{row.model}.json")


@functools.cache
def _platform(chip: str) -> Platform:
    return Platform.load(chip)


@functools.cache
def _machine(chip: str, efficiency: float | None = None) -> HtpMachine:
    platform = _platform(chip)
    known = platform.chip
    if efficiency is not None:
        known = known.with_value("memory.efficiency", efficiency)
    return HtpMachine.of(known, platform.stack)


@functools.cache
def _parts(row: LlmRow) -> tuple[LayerSpan, ...]:
    most_bytes = Conditions().part_gb * GIGABYTE
    return split(architecture_of(row), widths_of(row), row.context_length, most_bytes)


@functools.cache
def _graph(case: Case, layers: int, head: bool) -> tuple[HtpOperation, ...]:
    row, tokens = case
    conditions = Conditions(
        widths_of(row), context=row.context_length, prompt=row.block, block=row.block, generate=0
    )
    part = LayerSpan(0, layers, head)
    deployment = deployment_of(
        architecture_of(row), _platform(row.chip), conditions, part, tokens, row.context_length
    )
    calls = tuple(deployment.plan.calls())
    return compile_graph(calls, deployment.network, _machine(row.chip).vtcm_bytes)


@functools.cache
def modelled_s(case: Case, constants: Constants, efficiency: float | None = None) -> float:
    """The model's seconds with these values of FITTED, as the simulation gives them.

    `efficiency` is the chip's share of the DDR peak, None for that of its file.
    """
    row, _ = case
    stack = _platform(row.chip).stack
    release = stack.htp
    handed_over_s = release.part_s + release.call_s.of(stack.profile())
    ordered, unpacked = constants
    known = _machine(row.chip, efficiency)
    factors = {
        "ordered_vectors": ordered / release.ordered_vectors,
        "unpacked_vectors": unpacked / release.unpacked_vectors,
    }
    machine = replace(
        known,
        vector_s=scaled(known.vector_s, factors),
        float_vector_s=scaled(known.float_vector_s, factors),
    )

    @functools.cache
    def end_s(layers: int, head: bool) -> float:
        return schedule(_graph(case, layers, head), machine)[-1].end_s

    return sum(
        handed_over_s
        + end_s(2, part.head)
        + (len(part.layers) - 2) * (end_s(2, part.head) - end_s(1, part.head))
        for part in _parts(row)
    )


def stated() -> Constants:
    """The values of FITTED in the release's file."""
    release = _platform("sd8gen4").stack.htp
    return release.ordered_vectors, release.unpacked_vectors


def fitted(known: Sequence[Case]) -> Constants:
    """The constants with the least sum of absolute logarithmic errors.

    Rows of w4a16 have no weights to unpack, so the order of operands is fitted to them alone.
    """

    def loss(some: Sequence[Case], constants: Constants) -> float:
        ratios = [modelled_s(case, constants) / measured_s(case) for case in some]
        return float(np.sum(np.abs(np.log(ratios))))

    floats = [case for case in known if widths_of(case[0]).floats]
    codes = [case for case in known if not widths_of(case[0]).floats]
    unpacked = stated()[1]
    ordered = min(_ORDERED, key=lambda value: loss(codes, (value, unpacked)))
    if floats:
        unpacked = min(_UNPACKED, key=lambda value: loss(floats, (ordered, value)))
    return ordered, unpacked


def by_model(case: Case, known: Sequence[Case]) -> float:
    """Predict by this model."""
    constants, chip = fitted_to(tuple(known)), case[0].chip
    if chip not in _PUBLIC_EFFICIENCY:
        return modelled_s(case, constants)
    tokens = [other for other in known if other[0].chip == chip and other[1] == 1]

    def loss(efficiency: float) -> float:
        ratios = [modelled_s(other, constants, efficiency) / measured_s(other) for other in tokens]
        return float(np.sum(np.abs(np.log(ratios))))

    public = _PUBLIC_EFFICIENCY[chip]
    return modelled_s(case, constants, min(_EFFICIENCIES, key=loss) if tokens else public)


fitted_to = functools.cache(fitted)


@functools.cache
def bound_s(case: Case) -> float:
    """Bytes over bandwidth; for a block, or multiply-adds over the peak if these are slower."""
    row, tokens = case
    architecture, widths, machine = architecture_of(row), widths_of(row), _machine(row.chip)
    matrices = architecture.layers * architecture.layer_weights
    moved = (matrices * widths.weights + architecture.head_weights * widths.head_bits) / 8
    moved += architecture.cache_bytes(row.context_length, widths.cache_bits)
    moved_s = moved / machine.ddr_bytes_per_s
    if tokens == 1:
        return moved_s
    peak = machine.fp16_macs_per_s if widths.floats else machine.int8_macs_per_s / 2
    attention = 2 * architecture.layers * architecture.heads * architecture.head_size
    macs = matrices + architecture.head_weights + attention * row.context_length
    return max(moved_s, tokens * macs / peak)


def _line(case: Case, known: Sequence[Case], *, factor: bool) -> float:
    """A constant, with or without a factor, of least squared relative errors."""
    same = [other for other in known if (other[1] == 1) == (case[1] == 1)]
    times = np.array([measured_s(other) for other in same])
    bounds = np.array([bound_s(other) for other in same])
    if factor:
        matrix = np.stack([np.ones(len(same)), bounds], axis=1) / times[:, None]
        (constant, slope), *_ = np.linalg.lstsq(matrix, np.ones(len(same)), rcond=None)
        return float(constant + slope * bound_s(case))
    weights = 1 / times
    constant = float(np.sum(weights**2 * (times - bounds)) / np.sum(weights**2))
    return constant + bound_s(case)


PREDICTORS: dict[str, Predictor] = {
    "bytes over bandwidth": lambda case, known: bound_s(case),
    "plus a constant": functools.partial(_line, factor=False),
    "times a factor, plus a constant": functools.partial(_line, factor=True),
    "this model": by_model,
}


def errors(predictor: Predictor, key: str) -> dict[Case, float]:
    """Errors of predicted rates (tokens) and times (blocks); `key`, model or chip, is left out."""
    results = {}
    for case in cases():
        known = [other for other in cases() if getattr(other[0], key) != getattr(case[0], key)]
        ratio = max(predictor(case, known), 1e-9) / measured_s(case)
        results[case] = (1 / ratio if case[1] == 1 else ratio) - 1
    return results


def board() -> str:
    """The table of predictors."""
    lines = [
        "| predictor | left out | tokens/s, median | worst | first token, median | worst |",
        "|---" * 6 + "|",
    ]
    for key in ("model", "chip"):
        for name, predictor in PREDICTORS.items():
            by_case = errors(predictor, key)
            cells = []
            for is_token in (True, False):
                sizes = np.abs([e for case, e in by_case.items() if (case[1] == 1) == is_token])
                cells += [f"{100 * np.median(sizes):.1f} %", f"{100 * max(sizes):.1f} %"]
            lines.append(f"| {name} | {key} | {' | '.join(cells)} |")
    return "\n".join(lines)


def each() -> str:
    """The table of rows: what was measured, and the errors of the model."""
    lines = [
        "| model | precision | chip | tokens/s | model left out | chip left out "
        "| block ms | model left out | chip left out |",
        "|---" * 9 + "|",
    ]
    left_out = [errors(by_model, key) for key in ("model", "chip")]
    for row in llm_rows():
        cells = [row.model, row.precision, row.chip]
        pace, block = f"{row.tokens_per_second:.2f}", f"{row.block_ms:.1f}"
        for tokens, shown in ((1, pace), (row.block, block)):
            known = [errors.get((row, tokens)) for errors in left_out]
            cells += [shown, *("" if e is None else f"{100 * e:+.0f} %" for e in known)]
        lines.append(f"| {' | '.join(cells)} |")
    return "\n".join(lines)


def tables() -> dict[str, str]:
    """The tables of the page by their marks."""
    return {"scoreboard": board(), "rows": each()}


if __name__ == "__main__":
    print(dict(zip(FITTED, fitted(cases()), strict=True)), "stated:", stated())
    print("\n\n".join(tables().values()))
