"""The uncertainty of a simulated time because of its constants: by a sweep, and by draws.

In a sweep the assumed and calibrated constants of chip and stack that the simulation reads are
moved one at a time to both ends of their interval: the bounds in the datasheet, or for a calibrated
constant two standard errors of the fit. Log ratios of the times are added in quadrature, separately
upwards and downwards. For a constant that is uniform within its bounds, half their length is 1.7
standard deviations, so the interval covers about nine in ten. The errors of calibrated constants
are combined with their correlation. An assumed constant on which fitted measurements depend shifts
the calibrated ones, as another fit would.

Clock and bandwidth that were calibrated to one latency are as uncertain as that latency, and move
together.

Why one at a time: two simulations per constant, the same result every time, and each constant's
share is known. Constants that interact (a wake-up time and the idle time from which it is paid) are
not moved together.

Left out: causes that are missing from the model. A measured time outside the interval points to
one of those, or to a bound that is too narrow.

For draws all uncertain constants of a platform change at once. They are a Latin hypercube: over all
draws, each constant takes every part of its range equally often. Assumed constants are uniform in
logarithms between their bounds (linear, if the bounds begin at zero). Calibrated constants of the
published fit have its errors and correlation, and follow the assumed ones with which they trade.
Constants that a user calibrated lie around their value, with bounds two standard errors away.

Draws depend only on the platform and their number. So all runtimes and networks have the same
draws, and their order can be counted. Unlike the sweep this moves constants
together that interact; it does not say which of them matters.

Draws are divided among workers, with times that are bit for bit those of one process. A worker gets
the platform and the workload once, without weights, and draws its part itself.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from itertools import chain, groupby, pairwise
from operator import itemgetter
from statistics import NormalDist
from typing import Literal, NamedTuple

import numpy as np
import numpy.typing as npt

from hexsim.datasheets.chips import PACE
from hexsim.datasheets.datasheet import Datasheet, recorded
from hexsim.datasheets.measurements.calibration import STANDARD_ERRORS, calibration, intervals
from hexsim.datasheets.quantity import Quantity
from hexsim.deployment.platform import Platform
from hexsim.records import dataclass, replace
from hexsim.results.benchmark import Inference, RuntimeOrder
from hexsim.results.costs import Draws
from hexsim.simulation.simulator import Workload
from hexsim.studies.pool import Pool, in_order, ranges
from hexsim.timing.picoseconds import PS_PER_US
from hexsim.timing.results import Result

Side = Literal["chip", "stack"]
Scope = Literal["everything", "tensor engine", "a few draws"]
"""Which constants are moved: all one at a time, or those of the HTA and of handing subnets to it,
about which little is published and which only aip reads; or all at once."""

_TENSOR_ENGINE = ("hta.", "partitioning.")
_SIDES: tuple[Side, ...] = ("chip", "stack")


class Times(NamedTuple):
    """Total inference, forward propagate and initialisation time, in microseconds."""

    total_us: float
    forward_us: float
    initialisation_us: float = 0.0

    @classmethod
    def of(cls, result: Result) -> Times:
        """Return the times of a simulation."""
        return cls(result.total_us, result.forward_us, result.init_ps / PS_PER_US)


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
        low, high = (math.log(max(us, 1e-9) / max(nominal[figure], 1e-9)) for us in times)
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
    return swept(platform, lambda changed: Times.of(run(changed)), scope)


def swept(
    platform: Platform, times: Callable[[Platform], Times], scope: Scope = "everything"
) -> Uncertainty:
    """Sweep any positive figures over the constants in `scope`."""
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
    both = ((known, getattr(platform, known)) for known in _SIDES)
    return Platform(*(s.with_value(path, value) if known == side else s for known, s in both))


def combined(nominal: Times, sensitivities: Sequence[ConstantSensitivity]) -> Uncertainty:
    """Return the interval that follows from all sensitivities together."""
    intervals_of = [_ends(nominal, sensitivities, figure) for figure in range(len(nominal))]
    weight = [max(map(abs, sensitivity.logs(nominal, 0))) ** 2 for sensitivity in sensitivities]
    moving = (k for k in range(len(sensitivities)) if weight[k])
    order = sorted(moving, key=lambda k: (-weight[k], sensitivities[k].path))
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


Array = npt.NDArray[np.float64]

INSIDE = (5, 95)
"""Percentiles at the ends of an interval."""

FEW = 12
"""Draws for the interval that each time gets by default.

Its ends differ from those of 200 draws by up to a quarter of the width, seen on seven networks;
moving one constant at a time, which simulates 20 to 60 times, by up to two fifths.
"""

MOST_DRAWS = 100_000
"""The most draws; each is a simulation of the inference."""

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
        return Times(
            *(_percentile(sorted(column), percent) for column in zip(*self.times, strict=True))
        )


def _percentile(ordered: Sequence[float], percent: int) -> float:
    """Return what numpy.percentile does, which imports masked arrays: a command waits for that."""
    place = (len(ordered) - 1) * (percent / 100)
    below = math.floor(place)
    low, high = ordered[below], ordered[min(below + 1, len(ordered) - 1)]
    share = place - below
    return high - (high - low) * (1 - share) if share >= 0.5 else low + (high - low) * share


def drawn(platforms: Sequence[Platform], workload: Workload) -> DrawnTimes:
    """Repeat the simulation of a workload on every drawn platform."""
    timed = replace(workload, lists_layers=False)
    return DrawnTimes(tuple(Times.of(platform.simulate(timed)) for platform in platforms))


def few_draws(times: DrawnTimes, nominal: Result) -> Uncertainty:
    """Return the interval of a time that was simulated as `nominal`, which it always contains.

    It does not say which constants it comes from.
    """
    stated = Times.of(nominal)
    low = Times(*map(min, times.low, stated))
    high = Times(*map(max, times.high, stated))
    return Uncertainty(low, stated, high, (), (), "a few draws")


def draws(platform: Platform, count: int, part: slice = _ALL) -> tuple[Platform, ...]:
    """Draw `count` platforms, the same ones every time, or return only a `part` of them."""
    record = calibration()
    doubtful = [
        (side, path, constant, record.stated(getattr(platform, side).name, path, constant))
        for side in _SIDES
        for path, constant in sorted(getattr(platform, side).quantities(), key=itemgetter(0))
        if constant.low is not None and constant.low < (constant.high or 0.0)
    ]
    fitted = len(record.constants)
    shares = latin_hypercube(count, len(doubtful) + fitted)
    sizes = np.array([constant.log_error for constant in record.constants])
    root = np.linalg.cholesky(np.array(record.correlation))
    normal = np.vectorize(NormalDist().inv_cdf)
    return tuple(
        _draw(platform, doubtful, share[:-fitted], sizes * (root @ normal(share[-fitted:])))
        for share in shares[part]
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
    doubtful: Sequence[tuple[Side, str, Quantity, int | None]],
    shares: Array,
    steps: Array,
) -> Platform:
    """Return the platform of one point: shares of the ranges, and logarithms of the fit's errors.

    A doubtful constant of the published fit has its index there.
    """
    values: dict[Side, dict[str, float]] = {side: {} for side in _SIDES}
    for (side, path, constant, index), share in zip(doubtful, map(float, shares), strict=True):
        if index is None:
            value = values[side][path] = _own(constant, share)
            steps = steps + _answer(getattr(platform, side).name, path, constant, value)
    for side, path, constant, index in doubtful:
        if index is not None:
            values[side][path] = _clipped(constant, constant.value * math.exp(steps[index]))
    if platform.has_own_pace:  # one latency gave both, so they have one error
        known, drawn_values = dict(platform.chip.quantities()), values["chip"]
        clock, bandwidth = (known[path].value for path in PACE)
        drawn_values[PACE[1]] = bandwidth * drawn_values[PACE[0]] / clock
    return Platform(*(getattr(platform, side).certain(values[side]) for side in _SIDES))


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


_LARGEST = 50
"""Largest number of draws in a part: some seconds, which are lost when a worker dies."""
_PARTS = 4
"""Least number of parts for each worker, if there are enough draws, so that all end together."""


@dataclass(frozen=True)
class _SharedDraws:
    """The data that all parts share."""

    platform: Platform
    workload: Workload
    count: int


def drawn_by(pool: Pool, platform: Platform, count: int, workload: Workload) -> DrawnTimes:
    """Simulate a workload on `count` drawn platforms, by the workers of a pool.

    Raises HexsimError if workers die of some draws.
    """
    jobs = tuple(replace(job, plan=job.plan.without_values()) for job in workload.jobs)
    shared = _SharedDraws(platform, replace(workload, jobs=jobs), count)
    size = min(_LARGEST, max(1, count // (_PARTS * max(1, pool.threads))))
    parts = pool.in_parts(_timed, shared, ranges(count, size), "draws")
    return DrawnTimes(tuple(chain.from_iterable(times for _, times in in_order(parts))))


def _timed(shared: _SharedDraws, first: int, stop: int) -> tuple[Times, ...]:
    """Simulate a part; a worker runs this."""
    platforms = draws(shared.platform, shared.count, slice(first, stop))
    return drawn(platforms, shared.workload).times


def orders(results: Sequence[Inference]) -> tuple[RuntimeOrder, ...]:
    """Return how sure the order of each two neighbours in time is, where constants were drawn.

    Times are those of the table.
    """
    result: list[RuntimeOrder] = []
    for (network, chip), group in groupby(results, key=lambda case: (case.network, case.chip)):
        ranked = sorted(group, key=lambda case: case.total_inference_us)
        for first, second in pairwise(ranked):
            if first.draws and second.draws:
                result.append(
                    RuntimeOrder(
                        network=network,
                        chip=chip,
                        first=first.runtime,
                        second=second.runtime,
                        share=_before(first.draws, second.draws),
                        draws=first.draws.count,
                        contradicted=_contradicted(first, second),
                    )
                )
    return tuple(result)


def _before(first: Draws, second: Draws) -> float:
    """Return the share of draws in which the first total time is the shorter; ties count half."""
    pairs = list(zip(first.totals_us, second.totals_us, strict=True))
    return sum(1.0 if a < b else 0.5 if a == b else 0.0 for a, b in pairs) / len(pairs)


def _contradicted(first: Inference, second: Inference) -> bool:
    """Return whether both were measured and the second was always faster."""
    first_ms, second_ms = (case.measured_ms.total_inference for case in (first, second))
    return bool(first_ms and second_ms) and max(second_ms) < min(first_ms)
