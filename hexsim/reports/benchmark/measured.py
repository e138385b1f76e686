"""Finds the published measurements of a benchmark case."""

from hexsim.datasheets import measurements
from hexsim.datasheets.measurements import Measurement
from hexsim.datasheets.measurements.answers import MeasuredOutcome, outcome
from hexsim.studies.benchmark import Case
from hexsim.studies.uncertainty import Uncertainty


def measured(case: Case, *, forward: bool) -> tuple[Measurement, ...]:
    """Return published rows, shortest first; two rows are the bounds of a published range.

    Files of the user have none, whatever their names. Rows apply only to cases with the buffers and
    the performance profile that they state.
    """
    if not case.builtin:
        return ()
    rows = measurements.find(case.network, case.chip, case.stack, case.runtime, forward=forward)
    return tuple(
        row
        for row in rows
        if row.buffer in (None, case.buffer) and row.perf_profile in (None, case.perf_profile)
    )


def measured_outcome(case: Case) -> MeasuredOutcome | None:
    """Return what is published of the answers of a case; None for files of the user."""
    if not case.builtin:
        return None
    return outcome(case.network, case.chip, case.stack, case.runtime)


def measured_ms(case: Case, *, forward: bool) -> tuple[float, ...]:
    """Return published latencies in ms."""
    return tuple(row.latency_ms for row in measured(case, forward=forward))


def is_outside(row: Measurement, uncertainty: Uncertainty) -> bool:
    """Return whether a measured time is outside the simulated interval by more than its resolution.

    False for the interval of a few draws, whose ends are too rough to say so.
    """
    if uncertainty.scope != "everything":
        return False
    low, high = (
        (times.forward_us if row.forward else times.total_us) / 1e3
        for times in (uncertainty.low, uncertainty.high)
    )
    return not low - row.resolution_ms <= row.latency_ms <= high + row.resolution_ms
