"""Finds the published measurements of a benchmark case."""

from __future__ import annotations

from hexsim import data
from hexsim.benchmark import Case


def measured_ms(case: Case, *, forward: bool) -> tuple[float, ...]:
    """Published latencies in ms; two values are the ends of a published range.

    A file of the user's has none, whatever its name.
    """
    if not case.builtin:
        return ()
    return data.find(case.network, case.chip, case.stack, case.runtime, forward=forward)
