"""The arithmetic of the fit, on problems whose answers are known."""

from __future__ import annotations

import math
from dataclasses import replace

import numpy as np
import pytest

from benchmarks.published_fit import data_errors, response
from hexsim.studies.calibration.estimator import (
    OUTLIER,
    Array,
    FittedConstants,
    Prior,
    Problem,
    differences,
    estimate,
    settle,
    soft_l1,
    trust,
)

ROWS = np.array(
    [[1.0, 0.2, 0.0], [3.0, 0.0, 1.0], [0.5, 2.0, 0.0], [0.0, 1.0, 4.0], [2.0, 2.0, 2.0]]
)
"""Times of five rows as sums of three constants."""


def predict(logs: Array) -> Array:
    return np.log(ROWS @ np.exp(logs))


def problem(measured: Array, *, error: float = 0.05, known: float = 0.0) -> Problem:
    prior = Prior(np.zeros(3), np.eye(3) * known, np.full(3, -2.0), np.full(3, 2.0))
    return Problem(predict, measured, np.full(5, 1 / error), prior)


def fitted(
    jacobian: list[list[float]], prior: float = 1.0, scatter: float = 1.0
) -> FittedConstants:
    matrix = np.array(jacobian)
    size = matrix.shape[1]
    return FittedConstants(np.zeros(size), matrix, matrix, scatter, prior * np.eye(size))


def test_it_finds_the_constants_that_made_the_times() -> None:
    known = np.array([0.7, -1.0, 0.4])
    best = estimate(problem(predict(known)), freedom=2)
    assert best.logs == pytest.approx(known, abs=0.01)
    assert best.scatter == 1.0


def test_it_agrees_with_the_optimiser_of_scipy() -> None:
    from scipy.optimize import least_squares  # slow to import, in every worker that collects

    measured = predict(np.array([0.5, -0.5, 0.2])) + np.array([0.03, -0.06, 0.02, 0.04, -0.4])
    asked = problem(measured)
    theirs = least_squares(
        asked.residuals, np.zeros(3), loss="soft_l1", f_scale=OUTLIER, bounds=(-2, 2)
    )
    ours = estimate(asked, freedom=2)
    assert soft_l1(asked.residuals(ours.logs)) == pytest.approx(2 * theirs.cost, rel=1e-3)
    assert ours.logs == pytest.approx(theirs.x, abs=0.02)
    assert ours.scatter == pytest.approx(theirs.cost, rel=1e-3)


def test_a_constant_without_information_stays_at_its_prior() -> None:
    blind = Problem(
        lambda logs: np.array([logs[0]]),
        np.array([1.0]),
        np.array([100.0]),
        Prior(np.array([0.0, 0.3]), np.eye(2), np.full(2, -2.0), np.full(2, 2.0)),
    )
    best = estimate(blind, freedom=1)
    assert best.logs == pytest.approx([1.0, 0.3], abs=0.01)
    assert data_errors(best) == pytest.approx([0.01, np.inf], rel=1e-3)
    assert best.log_errors == pytest.approx([1 / math.hypot(100.0, 1.0), 1.0], rel=1e-3)


def test_a_prior_pulls_by_its_weight() -> None:
    halfway = Problem(
        lambda logs: logs,
        np.array([1.0]),
        np.array([2.0]),
        Prior(np.zeros(1), np.array([[4.0]]), np.full(1, -9.0), np.full(1, 9.0)),
    )
    assert 0.4 < float(estimate(halfway, freedom=1).logs[0]) < 0.5


def test_nothing_leaves_the_bounds() -> None:
    best = estimate(problem(predict(np.array([3.0, 0.0, 0.0]))), freedom=2)
    assert best.logs[0] == 2.0
    assert np.all(np.abs(best.logs[1:]) < 2.0)


def test_an_outlier_counts_for_less() -> None:
    assert trust(np.array([0.0, OUTLIER, 100.0])) == pytest.approx([1.0, 0.7071, 0.02], rel=1e-3)
    assert soft_l1(np.array([0.01])) == pytest.approx(1e-4, rel=1e-3)
    far, farther = (soft_l1(np.array([size])) for size in (100.0, 200.0))
    assert farther / far == pytest.approx(2.0, rel=0.02)


def test_old_slopes_lead_to_the_same_estimate() -> None:
    measured = predict(np.array([0.5, -0.5, 0.2]))
    asked = problem(measured, known=1.0)
    far = differences(asked, np.array([-0.5, 0.5, -0.4]))
    best = estimate(asked, freedom=2).logs
    assert settle(asked, np.zeros(3), far) == pytest.approx(best, abs=0.02)


def test_two_constants_that_do_the_same_are_tied_and_share_an_answer() -> None:
    tied = fitted([[10.0, 10.0]])
    assert tied.correlation[0, 1] < -0.98
    assert response(tied, np.array([1.0])).sum() == pytest.approx(-0.1, rel=0.01)
    noisy = replace(tied, scatter=4.0)
    assert noisy.covariance.sum() / tied.covariance.sum() == pytest.approx(4.0, rel=0.05)
    assert fitted([[10.0, 0.0]]).correlation == pytest.approx(np.eye(2))
