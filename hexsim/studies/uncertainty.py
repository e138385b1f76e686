"""The uncertainty of a simulated time because of its constants: a sweep of the uncertain ones.

The assumed and calibrated constants of chip and stack that the simulation reads are moved one at a
time to both ends of their interval: the bounds in the datasheet, or for a calibrated constant two
standard errors of the fit. Log ratios of the times are added in quadrature, separately upwards and
downwards. For a constant that is uniform within its bounds, half their length is 1.7 standard
deviations, so the interval covers about nine in ten. The errors of calibrated constants are
combined with their correlation. An assumed constant on which fitted measurements depend shifts the
calibrated ones, as another fit would.

Clock and bandwidth that were calibrated to one latency are as uncertain as that latency, and move
together.

Why one at a time: two simulations per constant, the same result every time, and each constant's
share is known. Constants that interact (a wake-up time and the idle time from which it is paid) are
not moved together.

Left out: causes that are missing from the model. A measured time outside the interval points to
one of those, or to a bound that is too narrow.
"""

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Literal, NamedTuple

from hexsim.datasheets.chips.chip import PACE
from hexsim.datasheets.datasheet import Datasheet, recorded
from hexsim.datasheets.measurements.calibration import STANDARD_ERRORS, calibration, intervals
from hexsim.datasheets.quantity import Quantity
from hexsim.deployment.platform import Platform
from hexsim.timing.results import Result

Side = Literal["chip", "stack"]
Scope = Literal["everything", "tensor engine", "a few draws"]
"""Which constants are moved: all one at a time, or those of the HTA and of handing subnets to it,
about which little is published and which only aip reads; or all at once (`studies.draws`)."""

_TENSOR_ENGINE = ("hta.", "partitioning.")
_SIDES: tuple[Side, ...] = ("chip", "stack")


class Times(NamedTuple):
    """Total inference and forward propagate time, in microseconds."""

    total_us: float
    forward_us: float


@dataclass(frozen=True)
class ConstantSensitivity:
    """The times with one constant at the low and at the high end of its interval."""

    datasheet: str
    path: str
    constant: Quantity
    low: float
    high: float
    at_low: Times
    at_high: Times

    def logs(self, nominal: Times, figure: int) -> tuple[float, float]:
        """Return the log ratios of both times to the nominal one; `figure` indexes `Times`."""
        times = (self.at_low[figure], self.at_high[figure])
        low, high = (math.log(max(us, 1e-9) / nominal[figure]) for us in times)
        return low, high


@dataclass(frozen=True)
class Uncertainty:
    """The times with the constants as stated, and the interval around them.

    `sensitivities` are the constants that move the total time, the largest first; `shares` are
    their shares of its sum of squares, in the same order, 0 .. 1. `scope` says which constants were
    moved.
    """

    low: Times
    nominal: Times
    high: Times
    sensitivities: tuple[ConstantSensitivity, ...]
    shares: tuple[float, ...]
    scope: Scope = "everything"


def sweep(
    platform: Platform, run: Callable[[Platform], Result], scope: Scope = "everything"
) -> Uncertainty:
    """Repeat the simulation `run` at both ends of every constant in `scope` that it reads."""

    def times(changed: Platform) -> Times:
        result = run(changed)
        return Times(result.total_us, result.forward_us)

    return swept(platform, times, scope)


def swept(
    platform: Platform, times: Callable[[Platform], Times], scope: Scope = "everything"
) -> Uncertainty:
    """Sweep any two positive figures over the constants in `scope`."""
    with recorded() as reads:
        nominal = times(platform)
    sensitivities = []
    for side in _SIDES:
        datasheet: Datasheet = getattr(platform, side)
        paths_read = set(reads.of(datasheet))
        if platform.has_own_pace and paths_read.issuperset(PACE):
            paths_read.remove(PACE[1])  # moves with the clock
        for path, constant, low, high in intervals(datasheet):
            if path in paths_read and (scope == "everything" or path.startswith(_TENSOR_ENGINE)):
                at_low, at_high = (times(_moved(platform, side, path, v)) for v in (low, high))
                if {at_low, at_high} != {nominal}:
                    sensitivities.append(
                        ConstantSensitivity(
                            datasheet.name, path, constant, low, high, at_low, at_high
                        )
                    )
    return replace(combined(nominal, sensitivities), scope=scope)


def _moved(platform: Platform, side: Side, path: str, value: float) -> Platform:
    """Return the platform with one constant at `value`, and calibrated ones shifted as by a fit."""
    datasheet = getattr(platform, side)
    stated = dict(datasheet.quantities())[path].value
    if value == stated:
        return platform
    if platform.has_own_pace and path == PACE[0]:
        chip = platform.chip.at_pace(stated / value, "the sweep")
        return Platform(chip, platform.stack)
    record = calibration()
    trade = record.trade(datasheet.name, path)
    changed = _with(platform, side, path, value)
    if trade is None:
        return changed
    steps = trade.at_low if value < stated else trade.at_high
    for fitted, step in zip(record.constants, steps, strict=True):
        for other_side in _SIDES:
            answering = getattr(platform, other_side)
            constant = dict(answering.quantities()).get(fitted.path)
            if constant and record.stated(answering.name, fitted.path, constant) is not None:
                answer = min(max(constant.value * math.exp(step), fitted.low), fitted.high)
                changed = _with(changed, other_side, fitted.path, answer)
    return changed


def _with(platform: Platform, side: Side, path: str, value: float) -> Platform:
    if side == "chip":
        return Platform(platform.chip.with_value(path, value), platform.stack)
    return Platform(platform.chip, platform.stack.with_value(path, value))


def combined(nominal: Times, sensitivities: Sequence[ConstantSensitivity]) -> Uncertainty:
    """Return the interval that follows from all sensitivities together."""
    intervals_of = [_ends(nominal, sensitivities, figure) for figure in range(len(nominal))]
    weight = [max(map(abs, sensitivity.logs(nominal, 0))) ** 2 for sensitivity in sensitivities]
    order = sorted(range(len(sensitivities)), key=lambda k: (-weight[k], sensitivities[k].path))
    total = sum(weight) or 1.0
    return Uncertainty(
        Times(*(low for low, _ in intervals_of)),
        nominal,
        Times(*(high for _, high in intervals_of)),
        tuple(sensitivities[k] for k in order),
        tuple(weight[k] / total for k in order),
    )


def _ends(
    nominal: Times, sensitivities: Sequence[ConstantSensitivity], figure: int
) -> tuple[float, float]:
    down = up = 0.0
    tied: list[tuple[int, float]] = []
    for sensitivity in sensitivities:
        logs = sensitivity.logs(nominal, figure)
        index = calibration().stated(sensitivity.datasheet, sensitivity.path, sensitivity.constant)
        if index is not None:
            fitted = calibration().constants[index]
            slope = (logs[1] - logs[0]) / math.log(sensitivity.high / sensitivity.low)
            tied.append((index, slope * STANDARD_ERRORS * fitted.log_error))
        else:
            down += min(0.0, *logs) ** 2
            up += max(0.0, *logs) ** 2
    correlation = calibration().correlation
    together = max(0.0, sum(a * b * correlation[i][j] for i, a in tied for j, b in tied))
    return (
        nominal[figure] * math.exp(-math.sqrt(down + together)),
        nominal[figure] * math.exp(math.sqrt(up + together)),
    )
