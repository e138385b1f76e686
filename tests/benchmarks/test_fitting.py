"""The arithmetic of the fit: weights, errors, and whether it finds what is known."""

from __future__ import annotations

import math
from collections import defaultdict
from dataclasses import replace

import numpy as np
import pytest

from benchmarks.fitting import (
    Fit,
    Parameter,
    Run,
    fit,
    fitted_rows,
    parameters,
    predict_ms,
    weights,
)


def parameter(path: str, low: float = 1.0, high: float = math.exp(4)) -> Parameter:
    return Parameter(path, frozenset({"a"}), low, 2.0, high, "1")


def test_a_run_published_as_two_numbers_counts_once() -> None:
    rows = fitted_rows()
    total: dict[Run, float] = defaultdict(float)
    for row, weight in zip(rows, weights(rows), strict=True):
        error = math.hypot(row.resolution_ms / row.latency_ms, 0.05)
        total[Run.of(row)] += (weight * error) ** 2
    assert list(total.values()) == pytest.approx([1.0] * len(total))
    assert len(total) < len(rows)


def test_a_run_is_simulated_again_only_for_constants_it_reads() -> None:
    (gpu, *_) = [row for row in fitted_rows() if row.runtime == "gpu"]
    by_path = {p.path: p for p in parameters()}
    nominal = predict_ms(gpu, {})
    assert predict_ms(gpu, {by_path["dispatch.node_clk"]: 1000.0}) == nominal
    assert predict_ms(gpu, {by_path["gpu.efficiency"]: 0.5}) < nominal


def test_a_constant_without_information_keeps_its_bounds() -> None:
    blind = Fit({parameter("seen"): 2.0, parameter("blind"): 2.0}, np.array([[10.0, 0.0]]), 1.0)
    assert blind.data_errors == pytest.approx([0.1, np.inf])
    assert blind.log_errors == pytest.approx([1 / math.hypot(10.0, 1.0), 1.0])
    assert blind.correlation == pytest.approx(np.eye(2))


def test_two_constants_that_do_the_same_are_tied_and_share_an_answer() -> None:
    jacobian = 10.0 * np.array([[1.0, 1.0]])
    tied = Fit({parameter("a"): 2.0, parameter("b"): 2.0}, jacobian, 1.0)
    assert tied.correlation[0, 1] < -0.98
    assert tied.response(np.array([1.0])).sum() == pytest.approx(-0.1, rel=0.01)
    noisy = replace(tied, scatter=4.0)
    along = noisy.covariance.sum() / tied.covariance.sum()
    assert along == pytest.approx(4.0, rel=0.05)


@pytest.mark.slow
def test_the_fit_finds_the_constants_that_made_the_times() -> None:
    known = {p: math.sqrt(p.low * p.high) * 1.15 for p in parameters()}
    rows = [replace(row, latency_ms=predict_ms(row, known)) for row in fitted_rows()]
    found = fit(rows).values
    assert {p.path: found[p] / known[p] for p in known} == pytest.approx(
        {p.path: 1.0 for p in known}, rel=0.02
    )
