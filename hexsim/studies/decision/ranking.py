"""Rank candidates, and mark those that no other candidate beats in every figure.

The preferred figure is rounded to two digits, since the constants behind a time are not more
certain; a time with an interval counts with its middle. Ties are decided by accuracy, then time,
then the plainer mode. Accuracy is not rounded. Outputs that are mostly noise come last.
"""

import math
from collections.abc import Sequence
from dataclasses import replace
from typing import Literal, get_args

from hexsim.runtimes import RUNTIMES
from hexsim.studies.decision.candidates import DecisionCandidate

Preference = Literal["latency", "accuracy", "memory", "energy"]
PREFERENCES: tuple[Preference, ...] = get_args(Preference)

_RULES: dict[Preference, str] = {
    "latency": "latency to two digits, then accuracy, then latency, then the plainer mode",
    "accuracy": "accuracy, then latency, then the plainer mode",
    "memory": "peak memory to two digits, then accuracy, then latency, then the plainer mode",
    "energy": "energy to two digits, then accuracy, then latency, then the plainer mode",
}


def rule(preference: Preference) -> str:
    """Return the ranking rule in words."""
    return _RULES[preference]


def ranked(
    candidates: Sequence[DecisionCandidate], preference: Preference
) -> tuple[DecisionCandidate, ...]:
    """Return the candidates, best first; `in_front` marks those that no other one beats."""
    figures = [_figures(candidate) for candidate in candidates]
    marked = [
        replace(candidate, in_front=not any(_beats(rival, mine) for rival in figures))
        for candidate, mine in zip(candidates, figures, strict=True)
    ]
    return tuple(sorted(marked, key=lambda candidate: _key(candidate, preference)))


def heads(candidates: Sequence[DecisionCandidate]) -> tuple[DecisionCandidate, ...]:
    """Return the first candidate of each place, in their order."""
    first: dict[object, DecisionCandidate] = {}
    for candidate in candidates:
        first.setdefault(candidate.place, candidate)
    return tuple(first.values())


def two_digits(value: float) -> float:
    """Return `value` rounded to two digits."""
    return float(f"{value:.1e}")


def _key(candidate: DecisionCandidate, preference: Preference) -> tuple[object, ...]:
    first = {
        "latency": (two_digits(candidate.expected_us),),
        "accuracy": (),
        "memory": (two_digits(candidate.timed.peak_bytes),),
        "energy": (two_digits(candidate.timed.energy_mj),),
    }[preference]
    figures = (*_inaccuracy(candidate), candidate.expected_us)
    return (candidate.is_noise, *first, *figures, candidate.order, *_place(candidate))


def _place(candidate: DecisionCandidate) -> tuple[object, ...]:
    """Return the last sort key: names, and dsp before aip, which equals dsp without sections."""
    return candidate.chip, RUNTIMES.index(candidate.runtime), candidate.timed.cut


def _inaccuracy(candidate: DecisionCandidate) -> tuple[float, float]:
    """Return points lost, where there are classes, and noise; smaller is better."""
    if candidate.accuracy is None:
        return math.inf, math.inf
    sqnr_db = math.inf if candidate.accuracy.sqnr_db is None else candidate.accuracy.sqnr_db
    return (candidate.loss or 0.0, -sqnr_db)


def _figures(candidate: DecisionCandidate) -> tuple[float, ...]:
    timed = candidate.timed
    return (timed.total_us, timed.peak_bytes, timed.energy_mj, *_inaccuracy(candidate))


def _beats(rival: Sequence[float], mine: Sequence[float]) -> bool:
    """Return True if `rival` is worse in no figure, and better in one or more."""
    pairs = list(zip(rival, mine, strict=True))
    return all(a <= b for a, b in pairs) and any(a < b for a, b in pairs)
