"""Estimate constants from measured times: the arithmetic, independent of networks and files.

The unknowns are the logarithms x of some constants. Given are the logarithms of measured times,
each with an error, the function from x to the logarithms of simulated times, and a Gaussian prior
with hard bounds. The estimate minimises

    sum of rho((simulated - measured) / error)  +  (x - mean)' precision (x - mean)

rho is soft L1: a row that nothing explains has less influence than with its square. The method is
a damped Gauss-Newton method with reweighted rows. Slopes are finite differences, computed again
until the steps that follow are small; in between, each step corrects them by its result (Broyden's
update, for a row only in the constants on which it depends).

Left out: whether the minimum is the only one. Times rise with nearly every constant, so it is in
practice.
"""

from collections.abc import Callable

import numpy as np
import numpy.typing as npt

from hexsim.records import dataclass

Array = npt.NDArray[np.float64]

OUTLIER = 2.0
"""Weighted residual from which soft L1 counts a row less than least squares would."""

_DIFFERENCE = 0.01
"""Step of a difference in the logarithm of a constant, far above a time's rounding to 1 ps."""

_GAIN = 0.02
"""Least expected decrease of the cost for a step; 1 is one standard deviation of a row."""

_SETTLED = 0.02
"""Change of a logarithm from which slopes are computed again."""

_ROUNDS = 4
_STEPS = 12
_BLIND = 1e-9


@dataclass(frozen=True)
class Prior:
    """A prior of n logarithms: means, inverse covariance (n x n), hard bounds."""

    mean: Array
    precision: Array
    low: Array
    high: Array


@dataclass(frozen=True)
class Problem:
    """Measured times, and the function that predicts them from the constants.

    `predict` maps logarithms of constants to those of simulated times, one per row; `measured` are
    logarithms too. `weights` is the inverse of each row's relative error.
    """

    predict: Callable[[Array], Array]
    measured: Array
    weights: Array
    prior: Prior

    def residuals(self, logs: Array) -> Array:
        """Return the errors of the rows in units of their standard errors."""
        residuals: Array = self.weights * (self.predict(logs) - self.measured)
        return residuals

    def cost(self, logs: Array, residuals: Array) -> float:
        """Return the quantity to minimise."""
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


def soft_l1(residuals: Array) -> float:
    """Return the sum over rows: quadratic for small residuals, linear for large ones."""
    scaled = (residuals / OUTLIER) ** 2
    return float(np.sum(2 * OUTLIER**2 * (np.sqrt(1 + scaled) - 1)))


def trust(residuals: Array) -> Array:
    """Return the weight of each row's square that has the slope of soft L1; 1 for a good fit."""
    trust: Array = 1 / np.sqrt(1 + (residuals / OUTLIER) ** 2)
    return trust


def estimate(problem: Problem, freedom: int) -> FittedConstants:
    """Find the estimate from the prior's mean; `freedom` divides the sum of squares of `scatter`.

    Times are simulated about (constants + 5) times per round, of which there are two to four.
    """
    logs = np.clip(problem.prior.mean, problem.prior.low, problem.prior.high)
    slopes = differences(problem, logs)
    for _ in range(_ROUNDS):
        settled = settle(problem, logs, slopes)
        moved = float(np.max(np.abs(settled - logs), initial=0.0))
        if moved < _SETTLED:
            break
        logs, slopes = settled, differences(problem, settled)
    residuals = problem.residuals(logs)
    jacobian = np.sqrt(trust(residuals))[:, None] * problem.weights[:, None] * slopes
    scatter = max(1.0, soft_l1(residuals) / max(1, freedom))
    return FittedConstants(logs, slopes, jacobian, scatter, problem.prior.precision)


def differences(problem: Problem, logs: Array) -> Array:
    """Slopes of the logarithms of times (rows x constants), by one step of each constant."""
    nominal = problem.predict(logs)
    slopes = np.zeros((len(nominal), len(logs)))
    for at in range(len(logs)):
        step = _DIFFERENCE if logs[at] + _DIFFERENCE <= problem.prior.high[at] else -_DIFFERENCE
        moved = logs.copy()
        moved[at] += step
        slopes[:, at] = (problem.predict(moved) - nominal) / step
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
        trial_residuals = problem.residuals(trial)
        changes = (trial_residuals - residuals) / problem.weights
        steps = np.where(depends, moved, 0.0)
        lengths = np.sum(steps**2, axis=1)
        missed = np.divide(
            changes - slopes @ moved, lengths, out=np.zeros_like(changes), where=lengths > _BLIND
        )
        corrected: Array = slopes + missed[:, None] * steps
        slopes = corrected
        if problem.cost(trial, trial_residuals) < problem.cost(logs, residuals):
            logs, residuals, damping = trial, trial_residuals, damping / 4
        else:
            damping = max(8 * damping, 0.1)
    return logs


def _step(
    problem: Problem, logs: Array, residuals: Array, jacobian: Array, damping: float
) -> tuple[Array, float]:
    """One damped Gauss-Newton step inside the bounds, and by how much it should lower the cost.

    A constant that is pushed against a bound stays there.
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
