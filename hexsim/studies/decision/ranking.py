"""Ranking: the order of candidates, and which of them nothing beats in everything.

The figure that is preferred counts to two digits, since the constants behind a time are no surer.
Where that ties, accuracy decides, then time, and then the plainer mode. Accuracy counts as it is.
"""

from __future__ import annotations

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
    """How candidates are ranked, in words."""
    return _RULES[preference]


def ranked(
    candidates: Sequence[DecisionCandidate], preference: Preference
) -> tuple[DecisionCandidate, ...]:
    """The candidates, best first, and marked where they are in front."""
    figures = [_figures(candidate) for candidate in candidates]
    marked = [
        replace(candidate, in_front=not any(_beats(other, mine) for other in figures))
        for candidate, mine in zip(candidates, figures, strict=True)
    ]
    return tuple(sorted(marked, key=lambda one: _key(one, preference)))


def heads(candidates: Sequence[DecisionCandidate]) -> tuple[DecisionCandidate, ...]:
    """The first candidate of each place, in their order."""
    first: dict[object, DecisionCandidate] = {}
    for candidate in candidates:
        first.setdefault(candidate.place, candidate)
    return tuple(first.values())


def two_digits(value: float) -> float:
    """`value` rounded to two digits."""
    return float(f"{value:.1e}")


def _key(one: DecisionCandidate, preference: Preference) -> tuple[object, ...]:
    first = {
        "latency": (two_digits(one.timed.total_us),),
        "accuracy": (),
        "memory": (two_digits(one.timed.peak_bytes),),
        "energy": (two_digits(one.timed.energy_mj),),
    }[preference]
    return (*first, *_inaccuracy(one), one.timed.total_us, one.order, *_place(one))


def _place(one: DecisionCandidate) -> tuple[object, ...]:
    """Last of all: names, and dsp before aip, which does the same where it has no sections."""
    return one.chip, RUNTIMES.index(one.runtime), one.timed.cut


def _inaccuracy(one: DecisionCandidate) -> tuple[float, float]:
    """Smaller is better: points lost, where there are classes, then noise."""
    if one.accuracy is None:
        return math.inf, math.inf
    sqnr_db = math.inf if one.accuracy.sqnr_db is None else one.accuracy.sqnr_db
    return (one.loss or 0.0, -sqnr_db)


def _figures(one: DecisionCandidate) -> tuple[float, ...]:
    """Time, memory, energy, loss and noise; smaller is better in each."""
    timed = one.timed
    return (timed.total_us, timed.peak_bytes, timed.energy_mj, *_inaccuracy(one))


def _beats(other: Sequence[float], mine: Sequence[float]) -> bool:
    """True if `other` is nowhere worse, and better somewhere."""
    pairs = list(zip(other, mine, strict=True))
    return all(a <= b for a, b in pairs) and any(a < b for a, b in pairs)
