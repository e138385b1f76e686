"""Finds the published measurements of a benchmark case."""

from __future__ import annotations

from hexsim.datasheets import measurements
from hexsim.datasheets.measurements import Measurement
from hexsim.studies.benchmark import Case
from hexsim.studies.uncertainty import Uncertainty


def measured(case: Case, *, forward: bool) -> tuple[Measurement, ...]:
    """Published rows, shortest first; two are the ends of a published range.

    A file of the user's has none, whatever its name, nor has a case with other buffers or another
    performance profile than those that a row states.
    """
    if not case.builtin:
        return ()
    found = measurements.find(case.network, case.chip, case.stack, case.runtime, forward=forward)
    return tuple(
        row
        for row in found
        if row.buffer in (None, case.buffer) and row.perf_profile in (None, case.perf_profile)
    )


def measured_ms(case: Case, *, forward: bool) -> tuple[float, ...]:
    """Published latencies in ms."""
    return tuple(row.latency_ms for row in measured(case, forward=forward))


def is_outside(row: Measurement, found: Uncertainty) -> bool:
    """True if a measured time is outside the simulated interval by more than its resolution.

    An interval of the tensor engine's constants alone says nothing about that.
    """
    if found.scope != "everything":
        return False
    low, high = (
        (times.forward_us if row.forward else times.total_us) / 1e3
        for times in (found.low, found.high)
    )
    return not low - row.resolution_ms <= row.latency_ms <= high + row.resolution_ms
