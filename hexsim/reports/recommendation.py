"""Which runtime is the fastest for a network, and with which cut, in one line per network."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import groupby

from hexsim.studies.benchmark import Case
from hexsim.studies.cuts import Found


def recommendations(cases: Sequence[Case]) -> str:
    """Return a line per network that ran on aip and on another runtime."""
    return "\n".join(_lines(cases))


def _lines(cases: Sequence[Case]) -> Iterator[str]:
    for network, group in groupby(cases, key=lambda case: case.network):
        ranked = sorted(group, key=lambda case: case.fastest_us)
        if len(ranked) > 1 and any(case.cut for case in ranked):
            first, second = ranked[:2]
            yield f"Fastest for {network}: {_described(first)}; next {_described(second)}"


def _described(case: Case) -> str:
    text = f"{case.runtime}, {case.fastest_us / 1e3:.2f} ms"
    if case.cut is None:
        return text
    sections = case.cut.best_ids
    where = f"with HTA sections {sections}" if sections else "without HTA sections"
    return f"{case.runtime} {where}, {case.fastest_us / 1e3:.2f} ms ({_gain(case.cut)})"


def _gain(cut: Found) -> str:
    """What the cut gains over that of the compiler, if it is another one."""
    if cut.best == cut.default:
        return "the default cut"
    return f"{cut.gain:.2f}x the default cut's speed, {cut.low:.2f} to {cut.high:.2f}x"
