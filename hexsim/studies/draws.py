"""Draw all uncertain constants of a platform at once, and simulate times with them.

The draws are a Latin hypercube: over all draws, each constant takes every part of its range equally
often. Assumed constants are uniform in logarithms between their bounds (linear, if the bounds
begin at zero). Calibrated constants of the published fit have its errors and correlation, and
follow the assumed ones with which they trade. Constants that a user calibrated lie around their
value, with bounds two standard errors away.

Draws depend only on the platform and their number. So all runtimes and networks have the same
draws, and their order can be counted. Unlike the sweep (`hexsim.studies.uncertainty`) this moves
constants together that interact; it does not say which of them matters.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from operator import itemgetter
from statistics import NormalDist

import numpy as np
import numpy.typing as npt

from hexsim.datasheets.chips.chip import PACE
from hexsim.datasheets.datasheet import Datasheet, DatasheetT
from hexsim.datasheets.measurements.calibration import STANDARD_ERRORS, calibration
from hexsim.datasheets.quantity import Quantity
from hexsim.deployment.platform import Platform
from hexsim.studies.uncertainty import Times, Uncertainty
from hexsim.timing.results import Result

Array = npt.NDArray[np.float64]

INSIDE = (5, 95)
"""Percentiles at the ends of an interval."""

FEW = 12
"""Draws for the interval that each time gets by default.

Its ends are within a tenth of those of 200 draws. A sweep simulates 20 to 60 times.
"""

_SEED = 0
_ALL = slice(None)


@dataclass(frozen=True)
class DrawnTimes:
    """Times of one workload, in the order of the draws."""

    times: tuple[Times, ...]

    @property
    def low(self) -> Times:
        """The times that one draw in twenty is below."""
        return self._percentile(INSIDE[0])

    @property
    def high(self) -> Times:
        """The times that one draw in twenty is above."""
        return self._percentile(INSIDE[1])

    def _percentile(self, percent: int) -> Times:
        return Times(*map(float, np.percentile(np.array(self.times), percent, axis=0)))


def drawn(platforms: Sequence[Platform], run: Callable[[Platform], Result]) -> DrawnTimes:
    """Repeat the simulation `run` on every drawn platform."""
    results = map(run, platforms)
    return DrawnTimes(tuple(Times(result.total_us, result.forward_us) for result in results))


def few_draws(times: DrawnTimes, nominal: Result) -> Uncertainty:
    """Return the interval of a time that was simulated as `nominal`, which it always contains.

    It does not say which constants it comes from.
    """
    stated = Times(nominal.total_us, nominal.forward_us)
    low = Times(*map(min, times.low, stated))
    high = Times(*map(max, times.high, stated))
    return Uncertainty(low, stated, high, (), (), "a few draws")


def draws(platform: Platform, count: int, part: slice = _ALL) -> tuple[Platform, ...]:
    """Draw `count` platforms, the same ones every time, or return only a `part` of them."""
    doubtful = [
        (datasheet, path, constant)
        for datasheet in (platform.chip, platform.stack)
        for path, constant in sorted(datasheet.quantities(), key=itemgetter(0))
        if constant.low is not None and constant.low < (constant.high or 0.0)
    ]
    fitted = len(calibration().constants)
    shares = latin_hypercube(count, len(doubtful) + fitted)
    return tuple(
        _draw(platform, doubtful, share[:-fitted], share[-fitted:]) for share in shares[part]
    )


def latin_hypercube(count: int, dimensions: int, seed: int = _SEED) -> Array:
    """Return points in the unit cube (count x dimensions), one in each slice of each side."""
    random = np.random.default_rng(seed)
    slices = [random.permutation(count) for _ in range(dimensions)]
    slots = np.reshape(slices, (dimensions, count)).T
    points: Array = (slots + random.random((count, dimensions))) / count
    return points


def _draw(
    platform: Platform,
    doubtful: Sequence[tuple[Datasheet, str, Quantity]],
    shares: Array,
    errors: Array,
) -> Platform:
    """Return the platform of one point: shares of the ranges, and of the fit's errors."""
    record = calibration()
    sizes = np.array([constant.log_error for constant in record.constants])
    steps = sizes * (np.linalg.cholesky(np.array(record.correlation)) @ _normal(errors))
    values: dict[tuple[str, str], float] = {}
    for (datasheet, path, constant), share in zip(doubtful, map(float, shares), strict=True):
        if record.stated(datasheet.name, path, constant) is None:
            value = _own(constant, share)
            values[datasheet.name, path] = value
            steps = steps + _answer(datasheet.name, path, constant, value)
    for datasheet, path, constant in doubtful:
        index = record.stated(datasheet.name, path, constant)
        if index is not None:
            values[datasheet.name, path] = _clipped(
                constant, constant.value * math.exp(steps[index])
            )
    if platform.has_own_pace:  # one latency gave both, so they have one error
        chip, known = platform.chip.name, dict(platform.chip.quantities())
        clock, bandwidth = (known[path].value for path in PACE)
        values[chip, PACE[1]] = bandwidth * values[chip, PACE[0]] / clock
    return Platform(
        _restated(platform.chip, doubtful, values), _restated(platform.stack, doubtful, values)
    )


def _own(constant: Quantity, share: float) -> float:
    """Return a constant that the published fit does not contain, at a share of its range."""
    low, high = constant.low or 0.0, constant.high or 0.0
    if low <= 0:
        return low + share * (high - low)
    length = math.log(high / low)
    if constant.confidence == "calibrated":
        error = length / (2 * STANDARD_ERRORS)
        step = NormalDist(0.0, error).inv_cdf(share)
        return _clipped(constant, constant.value * math.exp(step))
    return low * math.exp(share * length)


def _answer(datasheet: str, path: str, constant: Quantity, value: float) -> Array:
    """Return how the fitted logarithms follow an assumed constant, in proportion to its move."""
    trade = calibration().trade(datasheet, path) if constant.confidence == "assumed" else None
    middle = constant.value
    end = constant.low if value < middle else constant.high
    if trade is None or end is None or end == middle:
        return np.zeros(len(calibration().constants))
    steepest = np.array(trade.at_low if value < middle else trade.at_high)
    answer: Array = (value - middle) / (end - middle) * steepest
    return answer


def _clipped(constant: Quantity, value: float) -> float:
    return min(max(value, constant.low or 0.0), constant.high or value)


def _normal(shares: Array) -> Array:
    return np.array([NormalDist().inv_cdf(share) for share in shares])


def _restated(
    datasheet: DatasheetT,
    doubtful: Sequence[tuple[Datasheet, str, Quantity]],
    values: dict[tuple[str, str], float],
) -> DatasheetT:
    """Return a datasheet whose doubtful constants have these values, without doubt."""
    constants = {}
    for owner, path, constant in doubtful:
        if owner is datasheet:
            certain = dict.fromkeys(("value", "low", "high"), values[owner.name, path])
            constants[path] = constant.model_copy(update=certain)
    return datasheet.restated(constants)
