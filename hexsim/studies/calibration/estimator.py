"""Constants from measured times: the arithmetic, which knows neither networks nor files.

Sought are the logarithms x of some constants. Known are the logarithms of measured times, each with
an error, how the logarithms of simulated times follow from x, and a Gaussian prior with hard
bounds. The estimate is where

    sum of rho((simulated - measured) / error)  +  (x - mean)' precision (x - mean)

is least. rho is soft L1: a row that nothing explains pulls less than its square would. The way
there is a damped Gauss-Newton method with reweighted rows. Slopes are differences, taken afresh
until the steps they lead to are small; between two such rounds each step corrects them by what it
found (Broyden's update, for a row only in the constants on which it depends).

Left out: whether the least is the only one. Times rise with nearly every constant, so it is in
practice.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

Array = npt.NDArray[np.float64]

OUTLIER = 2.0
"""Weighted residual from which soft L1 counts a row less than least squares would."""

_DIFFERENCE = 0.01
"""Step of a difference in the logarithm of a constant, far above a time's rounding to 1 ps."""

_GAIN = 0.02
"""What a step must promise to take off the sum of squares; 1 is one standard deviation of a row."""

_SETTLED = 0.02
"""Change of a logarithm from which slopes are taken afresh."""

_ROUNDS = 4
_STEPS = 12
_BLIND = 1e-9


@dataclass(frozen=True)
class Prior:
    """What is known of n logarithms before: means, inverse covariance (n x n), hard bounds."""

    mean: Array
    precision: Array
    low: Array
    high: Array


@dataclass(frozen=True)
class Problem:
    """What is measured, and how it follows from the constants.

    `predict` maps logarithms of constants to those of simulated times, one per row; `measured` are
    logarithms too. `weights` is the inverse of each row's relative error.
    """

    predict: Callable[[Array], Array]
    measured: Array
    weights: Array
    prior: Prior

    def residuals(self, logs: Array) -> Array:
        """Errors of the rows in units of what each may have."""
        residuals: Array = self.weights * (self.predict(logs) - self.measured)
        return residuals

    def cost(self, logs: Array, residuals: Array) -> float:
        """What is to be least."""
        away = logs - self.prior.mean
        return soft_l1(residuals) + float(away @ self.prior.precision @ away)


@dataclass(frozen=True)
class FittedConstants:
    """The logarithms found, with the Jacobian of the robustly weighted residuals there.

    `slopes` are derivatives of the logarithms of times, without weights. `scatter` is the mean
    square of the residuals, at least 1: where they are larger than the weights say, errors are
    larger too.
    """

    logs: Array
    slopes: Array
    jacobian: Array
    scatter: float
    prior: Array

    @property
    def precision(self) -> Array:
        """Inverse covariance of the logarithms by the measurements alone, linearised."""
        precision: Array = self.jacobian.T @ self.jacobian / self.scatter
        return precision

    @property
    def data_errors(self) -> Array:
        """Standard errors of the logarithms by the measurements alone, infinite where blind."""
        known = np.diag(self.precision) >= _BLIND
        errors = np.sqrt(np.diag(np.linalg.pinv(self.precision)))
        return np.where(known, errors, np.inf).astype(np.float64)

    @property
    def covariance(self) -> Array:
        """Covariance of the logarithms by measurements and prior."""
        return np.linalg.inv(self.precision + self.prior).astype(np.float64)

    @property
    def log_errors(self) -> Array:
        """Standard errors of the logarithms by measurements and prior."""
        errors: Array = np.sqrt(np.diag(self.covariance))
        return errors

    @property
    def correlation(self) -> Array:
        """Correlation of those errors."""
        correlation: Array = self.covariance / np.outer(self.log_errors, self.log_errors)
        return correlation

    def response(self, effect: Array) -> Array:
        """How the logarithms would move if all weighted residuals moved by `effect`."""
        response: Array = -self.covariance @ self.jacobian.T @ effect / self.scatter
        return response


def soft_l1(residuals: Array) -> float:
    """Sum over rows: the square of a small residual, in proportion to a large one."""
    scaled = (residuals / OUTLIER) ** 2
    return float(np.sum(2 * OUTLIER**2 * (np.sqrt(1 + scaled) - 1)))


def trust(residuals: Array) -> Array:
    """Weight of each row's square that gives soft L1 its slope: 1 for a row that fits."""
    trust: Array = 1 / np.sqrt(1 + (residuals / OUTLIER) ** 2)
    return trust


def estimate(problem: Problem, freedom: int) -> FittedConstants:
    """Find the estimate from the prior's mean; `freedom` divides the sum of squares of `scatter`.

    Times are simulated about (constants + 5) times per round, of which there are two to four.
    """
    logs = np.clip(problem.prior.mean, problem.prior.low, problem.prior.high)
    slopes = differences(problem, logs)
    for _ in range(_ROUNDS):
        found = settle(problem, logs, slopes)
        moved = float(np.max(np.abs(found - logs), initial=0.0))
        if moved < _SETTLED:
            break
        logs, slopes = found, differences(problem, found)
    residuals = problem.residuals(logs)
    jacobian = np.sqrt(trust(residuals))[:, None] * problem.weights[:, None] * slopes
    scatter = max(1.0, soft_l1(residuals) / max(1, freedom))
    return FittedConstants(logs, slopes, jacobian, scatter, problem.prior.precision)


def differences(problem: Problem, logs: Array) -> Array:
    """Slopes of the logarithms of times (rows x constants), by one step of each constant."""
    here = problem.predict(logs)
    slopes = np.zeros((len(here), len(logs)))
    for at in range(len(logs)):
        step = _DIFFERENCE if logs[at] + _DIFFERENCE <= problem.prior.high[at] else -_DIFFERENCE
        there = logs.copy()
        there[at] += step
        slopes[:, at] = (problem.predict(there) - here) / step
    return slopes


def settle(problem: Problem, logs: Array, slopes: Array) -> Array:
    """Go from `logs` to the estimate, with slopes that are roughly right."""
    depends = slopes != 0
    residuals = problem.residuals(logs)
    damping = 1e-3
    for _ in range(_STEPS):
        jacobian = problem.weights[:, None] * slopes
        moved, promised = _step(problem, logs, residuals, jacobian, damping)
        if promised < _GAIN:
            break
        trial = logs + moved
        found = problem.residuals(trial)
        slopes = _corrected(slopes, depends, moved, (found - residuals) / problem.weights)
        if problem.cost(trial, found) < problem.cost(logs, residuals):
            logs, residuals, damping = trial, found, damping / 4
        else:
            damping = max(8 * damping, 0.1)
    return logs


def _step(
    problem: Problem, logs: Array, residuals: Array, jacobian: Array, damping: float
) -> tuple[Array, float]:
    """One damped Gauss-Newton step inside the bounds, and by how much it should lower the cost.

    A constant that leans on a bound stays there.
    """
    prior, weight = problem.prior, trust(residuals)
    slope = jacobian.T @ (weight * residuals) + prior.precision @ (logs - prior.mean)
    curvature = (jacobian.T * weight) @ jacobian + prior.precision
    leans = ((logs <= prior.low) & (slope > 0)) | ((logs >= prior.high) & (slope < 0))
    free = np.flatnonzero(~leans)
    inner = curvature[np.ix_(free, free)]
    inner = inner + damping * np.diag(np.diag(inner))
    step = np.zeros_like(logs)
    step[free] = -np.linalg.solve(inner, slope[free])
    moved = np.clip(logs + step, prior.low, prior.high) - logs
    return moved, float(-2 * moved @ slope - moved @ curvature @ moved)


def _corrected(slopes: Array, depends: npt.NDArray[np.bool_], moved: Array, found: Array) -> Array:
    """Slopes that explain what the rows did in a step."""
    steps = np.where(depends, moved, 0.0)
    lengths = np.sum(steps**2, axis=1)
    missed = np.divide(
        found - slopes @ moved, lengths, out=np.zeros_like(found), where=lengths > _BLIND
    )
    corrected: Array = slopes + missed[:, None] * steps
    return corrected
