"""Finds the published measurement of a benchmark case."""

from __future__ import annotations

from hexsim.benchmark import Case
from hexsim.data.measured import find


def measured_ms(case: Case, statistic: str) -> tuple[float, ...]:
    """Published latencies in ms for a case; two values are the ends of a published range.

    `statistic` is "total_inference" or "forward_propagate".
    """
    timing = case.timing
    rows = find(timing.chip, case.runtime, case.network, statistic)
    return tuple(sorted(row.latency_ms for row in rows if row.stack == timing.stack))
