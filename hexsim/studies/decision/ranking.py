"""Rank choices, mark those that no other one beats in every figure, and apply the limits.

The preferred figure is rounded to two digits, since the constants behind a time are not more
certain; a time with an interval counts with its middle. Ties are decided by accuracy, then time,
then the plainer mode. Accuracy is not rounded. Outputs that are mostly noise come last.
"""

import math
from collections.abc import Sequence
from typing import get_args

from msgspec.structs import replace

from hexsim.errors import spelled
from hexsim.results.decision import Choice, Limits, Preference
from hexsim.runtimes import RUNTIMES
from hexsim.texts.figures import figure

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


def ranked(choices: Sequence[Choice], preference: Preference) -> tuple[Choice, ...]:
    """Return the choices with their ranks, best first, and whether none beats them (`in_front`)."""
    figures = [_figures(choice) for choice in choices]
    marked = [
        replace(choice, in_front=not any(_beats(rival, mine) for rival in figures))
        for choice, mine in zip(choices, figures, strict=True)
    ]
    best_first = sorted(marked, key=lambda choice: _key(choice, preference))
    return tuple(replace(choice, rank=rank) for rank, choice in enumerate(best_first, start=1))


def cost_beyond(limits: Limits, choice: Choice) -> str | None:
    """Return why a choice costs too much, or None; its answers need not be known."""
    if limits.max_ms is not None and choice.ms > limits.max_ms:
        return f"{figure(choice.ms)} ms, over {spelled('max_ms')} {limits.max_ms:g}"
    if limits.max_mb is not None and choice.peak_mib > limits.max_mb:
        return (
            f"{figure(choice.peak_mib)} MiB at its peak, over {spelled('max_mb')} {limits.max_mb:g}"
        )
    if limits.max_mj is not None and choice.energy_mj > limits.max_mj:
        return f"{figure(choice.energy_mj)} mJ, over {spelled('max_mj')} {limits.max_mj:g}"
    return None


def worth_beyond(limits: Limits, choice: Choice) -> str | None:
    """Return why the answers of a choice are not good enough, or None."""
    loss, sqnr_db = choice.loss_points, choice.sqnr_db
    if limits.max_loss is not None and loss is not None and loss > limits.max_loss:
        return f"loses {figure(loss)} points, over {spelled('max_loss')} {limits.max_loss:g}"
    if limits.min_db is not None and sqnr_db is not None and sqnr_db < limits.min_db:
        return f"{figure(sqnr_db)} dB, under {spelled('min_db')} {limits.min_db:g}"
    return None


def two_digits(value: float) -> float:
    """Return `value` rounded to two digits."""
    return float(f"{value:.1e}")


def _key(choice: Choice, preference: Preference) -> tuple[object, ...]:
    first = {
        "latency": (two_digits(choice.expected_us),),
        "accuracy": (),
        "memory": (two_digits(choice.peak_bytes),),
        "energy": (two_digits(choice.energy_mj),),
    }[preference]
    figures = (*_inaccuracy(choice), choice.expected_us)
    return (choice.is_noise, *first, *figures, choice.order, *_place(choice))


def _place(choice: Choice) -> tuple[object, ...]:
    """Return the last sort key: names, and dsp before aip, which equals dsp without sections."""
    return choice.chip, RUNTIMES.index(choice.runtime), choice.cut


def _inaccuracy(choice: Choice) -> tuple[float, float]:
    """Return points lost, where there are classes, and noise; smaller is better."""
    sqnr_db = math.inf if choice.sqnr_db is None else choice.sqnr_db
    return (choice.loss_points or 0.0, -sqnr_db)


def _figures(choice: Choice) -> tuple[float, ...]:
    costs = (choice.total_inference_us, choice.peak_bytes, choice.energy_mj)
    return (*costs, *_inaccuracy(choice))


def _beats(rival: Sequence[float], mine: Sequence[float]) -> bool:
    """Return True if `rival` is worse in no figure, and better in one or more."""
    pairs = list(zip(rival, mine, strict=True))
    return all(a <= b for a, b in pairs) and any(a < b for a, b in pairs)
