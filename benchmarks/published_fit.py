"""The fit of the constants that chip and stack files mark calibrated, to the published rows.

Rows fall into families that share no calibrated constant, each fitted by itself: the accelerators,
and the CPU runtimes with the software of a release. The cores themselves are not fitted.
A family has at most `MOST_CONSTANTS`, shared by all networks and chips; a stack's own parts belong
to that stack. The prior of a constant are its bounds: their middle in logarithms, and their
distance as four standard deviations.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass
from functools import cache
from multiprocessing import get_context
from typing import Literal

import numpy as np

from hexsim.datasheets import chips, measurements, stacks
from hexsim.datasheets.datasheet import Datasheet
from hexsim.datasheets.measurements import Measurement
from hexsim.datasheets.measurements.calibration import Trade
from hexsim.datasheets.quantity import Confidence, Quantity
from hexsim.studies.calibration.estimator import (
    Array,
    FittedConstants,
    Prior,
    Problem,
    estimate,
    settle,
)
from hexsim.studies.calibration.prediction import (
    MeasuredRun,
    Parameter,
    Predictions,
    Values,
    weights,
)

MOST_CONSTANTS = 9
Family = Literal["accelerators", "cpu"]
FAMILIES: dict[Family, tuple[str, ...]] = {
    "accelerators": ("dsp", "gpu", "gpu_fp16", "hta"),
    "cpu": ("cpu", "fxp_cpu"),
}
"""The runtimes of each family of rows."""

_CPU_SOFTWARE = "cpu_software."
"""Where the constants of the family of CPU runtimes stand."""

_BLIND = 1e-9
_SEEN = 1.01
"""Factor on a row from which an assumed constant is said to move it."""

Group = Callable[[Measurement], str | None]


@dataclass(frozen=True)
class Fit:
    """Fitted constants and how sure they are, in the order of `parameters`."""

    parameters: tuple[Parameter, ...]
    estimate: FittedConstants

    @property
    def values(self) -> dict[Parameter, float]:
        """The fitted values."""
        return _values(self.parameters, self.estimate.logs)


@cache
def _predictions() -> Predictions:
    return Predictions()


def predict_ms(row: Measurement, values: Values) -> float:
    """Simulated latency of a published row with some constants at other values."""
    return _predictions().ms(row, values)


def parameters(family: Family) -> tuple[Parameter, ...]:
    """The constants of a family to fit."""
    chosen = tuple(
        parameter
        for parameter in bounded("calibrated")
        if parameter.path.startswith(_CPU_SOFTWARE) == (family == "cpu")
    )
    assert len(chosen) <= MOST_CONSTANTS, [parameter.label for parameter in chosen]
    return chosen


def family_rows(family: Family) -> list[Measurement]:
    """The rows of a family that its fit may see, of stacks that are modelled."""
    return [
        row
        for row in measurements.rows()
        if row.runtime in FAMILIES[family] and row.stack in stacks.names()
    ]


def fitted_rows() -> list[Measurement]:
    """The rows of all families, one after the other."""
    return [row for family in FAMILIES for row in family_rows(family)]


def fit(rows: Sequence[Measurement], family: Family) -> Fit:
    """Fit a family's parameters to its `rows`; one that moves no row keeps the middle of its
    bounds."""
    chosen = parameters(family)
    freedom = len(set(map(MeasuredRun.of, rows))) - len(chosen)
    return Fit(chosen, estimate(_problem(chosen, rows), freedom))


def left_out(
    rows: Sequence[Measurement], best: Fit, group: Group
) -> dict[Measurement, float | None]:
    """Predict every row by a fit without the rows of its group; fits run in parallel.

    A fit starts from `best`, the fit to all `rows`, but does not use the rows left out. A row whose
    group is None is not predicted.
    """
    names = [name for name in dict.fromkeys(map(group, rows)) if name is not None]
    parts = [[group(row) == name for row in rows] for name in names]
    with ProcessPoolExecutor(mp_context=get_context("fork")) as pool:
        times = pool.map(_refit, parts, [rows] * len(parts), [best] * len(parts))
        rows_left = [[row for row, out in zip(rows, part, strict=True) if out] for part in parts]
        times_ms: dict[Measurement, float | None] = dict.fromkeys(rows)
        for part, predicted in zip(rows_left, times, strict=True):
            times_ms.update(zip(part, predicted, strict=True))
    return times_ms


def trades(rows: Sequence[Measurement], best: Fit) -> tuple[Trade, ...]:
    """Return every assumed constant that moves `rows` by more than 1 %, the largest first."""
    with ProcessPoolExecutor(mp_context=get_context("fork")) as pool:
        assumed = bounded("assumed")
        all_trades = pool.map(_trade, assumed, [rows] * len(assumed), [best] * len(assumed))
        return tuple(
            sorted((trade for trade in all_trades if trade), key=lambda trade: -trade.largest)
        )


@cache
def bounded(confidence: Confidence) -> tuple[Parameter, ...]:
    """Return every constant of that confidence in shipped chips and stacks; equal ones are one.

    Constants that occur only in chips and stacks without a row of measured_latency.csv are left
    out, since no row depends on them (tensor processors are fitted to rows of their own).
    """
    datasheets: list[Datasheet] = [stacks.load(name) for name in stacks.names()]
    datasheets += [chips.load(name) for name in chips.names()]
    names_of: dict[tuple[str, Quantity], set[str]] = {}
    for datasheet in datasheets:
        for path, constant in datasheet.quantities():
            if constant.confidence == confidence:
                names_of.setdefault((path, constant), set()).add(datasheet.name)
    measured = {name for row in measurements.rows() for name in (row.chip, row.stack)}
    return tuple(
        Parameter.of(path, constant, frozenset(names))
        for (path, constant), names in names_of.items()
        if names & measured
    )


def data_errors(fitted: FittedConstants) -> Array:
    """Standard errors of the logarithms by the measurements alone, infinite where blind."""
    informed = np.diag(fitted.precision) >= _BLIND
    errors = np.sqrt(np.diag(np.linalg.pinv(fitted.precision)))
    return np.where(informed, errors, np.inf).astype(np.float64)


def response(fitted: FittedConstants, effect: Array) -> Array:
    """How the logarithms would move if all weighted residuals moved by `effect`."""
    moved: Array = -fitted.covariance @ fitted.jacobian.T @ effect / fitted.scatter
    return moved


def bounds_prior(chosen: Sequence[Parameter]) -> Prior:
    """Return the prior that the bounds of constants give."""
    low, high = np.log(np.array([(p.low, p.high) for p in chosen]).T)
    errors = np.array([p.log_error for p in chosen])
    return Prior((low + high) / 2, np.diag(errors**-2.0), low, high)


def _problem(chosen: Sequence[Parameter], rows: Sequence[Measurement]) -> Problem:
    return Problem(
        predict=lambda logs: _predictions().logs(rows, _values(chosen, logs)),
        measured=np.log([row.latency_ms for row in rows]),
        weights=weights(rows),
        prior=bounds_prior(chosen),
    )


def _values(chosen: Sequence[Parameter], logs: Array) -> dict[Parameter, float]:
    return dict(zip(chosen, map(float, np.exp(logs)), strict=True))


def _refit(part: Sequence[bool], rows: Sequence[Measurement], best: Fit) -> list[float]:
    rows_left = [row for row, out in zip(rows, part, strict=True) if out]
    other_rows = [row for row, out in zip(rows, part, strict=True) if not out]
    fitted = best.estimate
    slopes = fitted.slopes[np.logical_not(part)]
    problem = _problem(best.parameters, other_rows)
    values = _values(best.parameters, settle(problem, fitted.logs, slopes))
    return [predict_ms(row, values) for row in rows_left]


def _trade(parameter: Parameter, rows: Sequence[Measurement], best: Fit) -> Trade | None:
    """Return how the fit answers to an assumed constant; None if it hardly moves any row."""
    values, middle = best.values, parameter.committed

    def effect(value: float) -> Array:
        """Log change of each row when the constant is moved to `value`."""
        before, after = (
            _predictions().logs(rows, {**values, parameter: v}) for v in (middle, value)
        )
        change: Array = after - before
        return change

    low, high = effect(parameter.low), effect(parameter.high)
    largest = math.exp(float(np.max(np.abs(high - low))))
    if largest <= _SEEN:
        return None
    scale, fitted = weights(rows), best.estimate
    weighted = (high - low) * scale
    explained = fitted.jacobian @ np.linalg.pinv(fitted.jacobian) @ weighted
    return Trade(
        parameter.path,
        tuple(sorted(parameter.datasheets)),
        largest,
        float(np.sum(explained**2) / np.sum(weighted**2)),
        tuple(map(float, response(fitted, low * scale))),
        tuple(map(float, response(fitted, high * scale))),
    )
