"""Fitting the calibrated constants to the published measurements: the arithmetic, no printing.

What is fitted: the constants that chip and stack files mark calibrated. They are at most five,
shared by all networks and chips; a stack's entry parts belong to that stack. How: robust least
squares (soft L1) in the logarithm of time, inside the bounds that each constant states in its
file. A residual is weighted by the resolution of its measurement together with MODEL_ERROR; a run
that was published as two numbers (total and forward) counts once. CPU rows are software artefacts
of their release and are never fitted; HTA rows are predicted only (`benchmarks.aip_tables`).
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass
from functools import cache
from typing import NamedTuple, TypeVar

import numpy as np
import numpy.typing as npt
from scipy.optimize import least_squares

from hexsim.container.loading import load
from hexsim.deployment import Deployment
from hexsim.platform import Platform
from hexsim.platforms import chips, measurements, stacks
from hexsim.platforms.datasheet import Datasheet, recorded
from hexsim.platforms.measurements.calibration import Trade
from hexsim.platforms.quantity import Quantity
from hexsim.platforms.stacks import BufferType
from hexsim.runtimes import Runtime
from hexsim.simulation.simulator import Workload

MODEL_ERROR = 0.05
"""Relative error that even a right model is granted, so that a row measured to 1 % does not
outweigh all others (assumed)."""

OUTLIER = 2.0
"""Weighted residual from which soft L1 counts a row less than least squares would."""

MOST_CONSTANTS = 9
RUNTIMES = ("dsp", "gpu", "gpu_fp16", "hta")

SheetT = TypeVar("SheetT", bound=Datasheet)
Array = npt.NDArray[np.float64]
Group = Callable[[measurements.Measurement], str]


@dataclass(frozen=True)
class Parameter:
    """One constant with bounds: its dotted path and the chips or stacks that have it."""

    path: str
    sheets: frozenset[str]
    low: float
    committed: float
    high: float
    unit: str

    @property
    def label(self) -> str:
        """How the tables call it; a constant of several sheets goes by its path alone."""
        return self.path if len(self.sheets) > 1 else f"{self.path} ({next(iter(self.sheets))})"

    def set(self, sheet: SheetT, value: float) -> SheetT:
        """Return the sheet with the constant at `value`, or as it is if it has no such constant."""
        if sheet.name not in self.sheets:
            return sheet
        return sheet.with_value(self.path, value)


Values = Mapping[Parameter, float]


@cache
def bounded(confidence: str) -> tuple[Parameter, ...]:
    """Every constant that the chip and stack files mark so; equal ones are one."""
    sheets: list[Datasheet] = [stacks.load(name) for name in stacks.names()]
    sheets += [chips.load(name) for name in chips.names()]
    found: dict[tuple[str, Quantity], set[str]] = {}
    for sheet in sheets:
        for path, constant in sheet.quantities():
            if constant.confidence == confidence:
                found.setdefault((path, constant), set()).add(sheet.name)
    return tuple(
        Parameter(path, frozenset(names), c.low or 0.0, c.value, c.high or math.inf, c.unit)
        for (path, c), names in found.items()
    )


def parameters() -> tuple[Parameter, ...]:
    """The constants to fit."""
    chosen = bounded("calibrated")
    assert len(chosen) <= MOST_CONSTANTS, [parameter.label for parameter in chosen]
    return chosen


def fitted_rows() -> list[measurements.Measurement]:
    """The rows that the fit may see."""
    return [row for row in measurements.rows() if row.runtime in RUNTIMES]


class Run(NamedTuple):
    """What was run when a row was measured; total and forward time are rows of one run."""

    chip: str
    stack: str
    runtime: Runtime
    model: str
    idle_ms: float
    perf_profile: str | None
    buffer: BufferType | None

    @classmethod
    def of(cls, row: measurements.Measurement) -> Run:
        """The run of a row; unknown idle time counts as none (a benchmark loop)."""
        idle_ms = row.idle_ms or 0.0
        profile, buffer = row.perf_profile, row.buffer
        return cls(row.chip, row.stack, row.runtime, row.model, idle_ms, profile, buffer)  # type: ignore[arg-type]


def predict_ms(row: measurements.Measurement, values: Values) -> float:
    """Simulated latency of a row with some constants at other values."""
    run = Run.of(row)
    read = _read(run)
    setting = tuple((p, value) for p, value in values.items() if p.sheets & read.get(p.path, set()))
    total_us, forward_us = _times(run, setting)
    return (forward_us if row.forward else total_us) / 1e3


@cache
def _read(run: Run) -> dict[str, set[str]]:
    """Names of chip and stack by the paths of the constants that simulating a run reads."""
    platform = _platform(run.chip, run.stack)
    with recorded() as reads:
        platform.simulate(_workload(run))
    read: dict[str, set[str]] = {}
    for sheet in (platform.chip, platform.stack):
        for path in reads.of(sheet):
            read.setdefault(path, set()).add(sheet.name)
    return read


@cache
def _times(run: Run, setting: tuple[tuple[Parameter, float], ...]) -> tuple[float, float]:
    """Total and forward time in microseconds; a constant that a run does not read costs nothing."""
    platform = _platform(run.chip, run.stack)
    chip, stack = platform.chip, platform.stack
    for parameter, value in setting:
        chip, stack = parameter.set(chip, value), parameter.set(stack, value)
    result = Platform(chip, stack).simulate(_workload(run))
    return result.total_us, result.forward_us


@cache
def _platform(chip: str, stack: str) -> Platform:
    return Platform.load(chip, stack)


@cache
def _workload(run: Run) -> Workload:
    """Plans depend on no constant, so one serves all evaluations.

    No weight is read: a float network is planned as the default quantiser would leave it.
    """
    model, platform = load(run.model), _platform(run.chip, run.stack)
    if run.runtime == "hta":
        names = [layer.name for layer in model.network.layers]
        deployment = Deployment(model, platform, "aip").with_sections([names], rules="1.25+")
    else:
        deployment = Deployment(model, platform, run.runtime)
    return deployment.workload(
        idle_ms=run.idle_ms, perf_profile=run.perf_profile, buffer=run.buffer
    )


def weights(rows: Sequence[measurements.Measurement]) -> Array:
    """Weights of the rows' log residuals."""
    count = Counter(map(Run.of, rows))
    errors = [math.hypot(row.resolution_ms / row.latency_ms, MODEL_ERROR) for row in rows]
    return np.array([count[Run.of(row)] ** -0.5 for row in rows]) / errors


@dataclass(frozen=True)
class Fit:
    """Fitted values, and the Jacobian of the weighted residuals in their logarithms.

    `scatter` is the mean square of the residuals, at least 1: where they are larger than the
    weights say, errors are larger too.
    """

    values: dict[Parameter, float]
    jacobian: Array
    scatter: float

    @property
    def precision(self) -> Array:
        """Inverse covariance of the logarithms by the measurements alone, linearised."""
        precision: Array = self.jacobian.T @ self.jacobian / self.scatter
        return precision

    @property
    def data_errors(self) -> Array:
        """Standard errors of the logarithms by the measurements alone, infinite where blind."""
        errors = np.sqrt(np.diag(np.linalg.pinv(self.precision)))
        return np.where(np.diag(self.precision) < 1e-9, np.inf, errors)

    @property
    def covariance(self) -> Array:
        """Covariance of the logarithms if the bounds count as well, as two standard deviations."""
        bounds = np.array([math.log(p.high / p.low) / 4 for p in self.values])
        covariance: Array = np.linalg.inv(self.precision + np.diag(bounds**-2.0))
        return covariance

    @property
    def log_errors(self) -> Array:
        """Standard errors of the logarithms inside the bounds."""
        errors: Array = np.sqrt(np.diag(self.covariance))
        return errors

    @property
    def correlation(self) -> Array:
        """Correlation of the errors inside the bounds."""
        correlation: Array = self.covariance / np.outer(self.log_errors, self.log_errors)
        return correlation

    def response(self, effect: Array) -> Array:
        """How the fitted logarithms would move if all weighted residuals moved by `effect`."""
        response: Array = -self.covariance @ self.jacobian.T @ effect / self.scatter
        return response


def fit(rows: Sequence[measurements.Measurement]) -> Fit:
    """Fit all parameters to `rows`.

    It starts in the middle of the bounds, not at the committed values, which know all rows; so a
    constant on which `rows` say nothing stays in the middle. The optimiser works in
    1 + log(value / low), which is never near zero, so that its relative steps stay far above the
    picosecond to which times are rounded.
    """
    chosen = parameters()
    low, high = np.log(np.array([(p.low, p.high) for p in chosen]).T)
    scale = weights(rows)
    measured = np.log([row.latency_ms for row in rows])

    def values(x: Array) -> dict[Parameter, float]:
        return dict(zip(chosen, map(float, np.exp(x - 1.0 + low)), strict=True))

    def residuals(x: Array) -> Array:
        setting = values(x)
        predicted = np.log([predict_ms(row, setting) for row in rows])
        weighted: Array = scale * (predicted - measured)
        return weighted

    solution = least_squares(
        residuals,
        (high - low) / 2 + 1.0,
        bounds=(np.ones(len(chosen)), high - low + 1.0),
        loss="soft_l1",
        f_scale=OUTLIER,
        diff_step=0.01,
        ftol=1e-5,
        xtol=1e-5,
        max_nfev=20,
    )
    runs = len(set(map(Run.of, rows)))
    scatter = 2 * solution.cost / max(1, runs - len(chosen))
    return Fit(values(solution.x), solution.jac, max(1.0, scatter))


def leave_out(
    rows: Sequence[measurements.Measurement], group: Group
) -> dict[measurements.Measurement, float]:
    """Predict every row by a fit that has seen no row of its group; fits run side by side."""
    groups = [
        (
            [row for row in rows if group(row) != name],
            [row for row in rows if group(row) == name],
        )
        for name in dict.fromkeys(map(group, rows))
    ]
    with ProcessPoolExecutor() as pool:
        found = list(pool.map(_fit_and_predict, *zip(*groups, strict=True)))
    return {
        row: ms
        for (_, left), part in zip(groups, found, strict=True)
        for row, ms in zip(left, part, strict=True)
    }


def _fit_and_predict(
    seen: Sequence[measurements.Measurement], left: Sequence[measurements.Measurement]
) -> list[float]:
    values = fit(seen).values
    return [predict_ms(row, values) for row in left]


def trades(rows: Sequence[measurements.Measurement], best: Fit) -> tuple[Trade, ...]:
    """Every assumed constant that moves `rows` by more than 1 %, the largest first."""
    scale = weights(rows)

    def effect(parameter: Parameter, value: float) -> Array:
        """Log change of each row when a constant is moved to `value`."""
        ends = [{**best.values, parameter: v} for v in (parameter.committed, value)]
        before, after = (np.log([predict_ms(row, end) for row in rows]) for end in ends)
        change: Array = after - before
        return change

    found = []
    for parameter in bounded("assumed"):
        low, high = (effect(parameter, end) for end in (parameter.low, parameter.high))
        largest = math.exp(float(np.max(np.abs(high - low))))
        if largest > 1.01:
            weighted = (high - low) * scale
            along = best.jacobian @ np.linalg.pinv(best.jacobian) @ weighted
            found.append(
                Trade(
                    parameter.path,
                    tuple(sorted(parameter.sheets)),
                    largest,
                    float(np.sum(along**2) / np.sum(weighted**2)),
                    tuple(map(float, best.response(low * scale))),
                    tuple(map(float, best.response(high * scale))),
                )
            )
    return tuple(sorted(found, key=lambda trade: -trade.largest))
