"""Finds the published measurements of an inference."""

from collections.abc import Callable
from typing import NamedTuple

from hexsim.datasheets import measurements
from hexsim.datasheets.measurements import Measurement
from hexsim.datasheets.measurements.answers import outcome
from hexsim.results.costs import DeviceAnswer, Figures
from hexsim.runtimes import Runtime
from hexsim.studies.uncertainty import Uncertainty


class Conditions(NamedTuple):
    """What published rows are looked up by."""

    network: str
    chip: str
    stack: str
    runtime: Runtime
    buffer: str
    perf_profile: str


def measured(case: Conditions, *, forward: bool) -> tuple[Measurement, ...]:
    """Return the rows of a built-in network, shortest first; two are the bounds of a range.

    Rows apply only to inferences with the buffers and the performance profile that they state.
    """
    rows = measurements.find(case.network, case.chip, case.stack, case.runtime, forward=forward)
    return tuple(
        row
        for row in rows
        if row.buffer in (None, case.buffer) and row.perf_profile in (None, case.perf_profile)
    )


def measured_figures(
    case: Conditions, among: Callable[[Measurement], bool] = lambda row: True
) -> Figures:
    """Return the published latencies in ms, those of the rows for which `among` holds."""
    total, forward = (
        tuple(row.latency_ms for row in measured(case, forward=of_forward) if among(row))
        for of_forward in (False, True)
    )
    return Figures(total_inference=total, forward_propagate=forward)


def device_answer(case: Conditions) -> DeviceAnswer | None:
    """Return what is published of the answers of a built-in network."""
    row = outcome(case.network, case.chip, case.stack, case.runtime)
    return None if row is None else DeviceAnswer(**vars(row))


def is_outside(row: Measurement, uncertainty: Uncertainty | None) -> bool:
    """Return whether a measured time is outside the simulated interval by more than its resolution.

    False for the interval of a few draws, whose ends are too rough to say so.
    """
    if uncertainty is None or uncertainty.scope != "everything":
        return False
    low, high = (
        (times.forward_us if row.forward else times.total_us) / 1e3
        for times in (uncertainty.low, uncertainty.high)
    )
    return not low - row.resolution_ms <= row.latency_ms <= high + row.resolution_ms
