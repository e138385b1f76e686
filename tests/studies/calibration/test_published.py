"""The fit to the published rows finds what is known, and says what it has not seen."""

from __future__ import annotations

import math
from dataclasses import replace

import pytest

from hexsim.studies.calibration.published import (
    bounds_prior,
    fit,
    fitted_rows,
    left_out,
    parameters,
    predict_ms,
)


def test_what_is_known_before_is_the_middle_of_the_bounds() -> None:
    chosen = parameters()
    prior = bounds_prior(chosen)
    for at, p in enumerate(chosen):
        assert math.exp(prior.mean[at]) == pytest.approx(math.sqrt(p.low * p.high))
        assert prior.precision[at, at] ** -0.5 == pytest.approx(math.log(p.high / p.low) / 4)


@pytest.mark.slow
def test_the_fit_finds_the_constants_that_made_the_times() -> None:
    known = {p: math.sqrt(p.low * p.high) for p in parameters()}
    rows = [replace(row, latency_ms=predict_ms(row, known)) for row in fitted_rows()]
    best = fit(rows)
    assert {p.path: best.values[p] / known[p] for p in known} == pytest.approx(
        {p.path: 1.0 for p in known}, rel=0.02
    )
    out = left_out(rows, best, lambda row: row.model if row.runtime == "hta" else None)
    for row, ms in out.items():
        assert (ms is None) == (row.runtime != "hta")
        assert ms is None or ms == pytest.approx(row.latency_ms, rel=0.02)


@pytest.mark.slow
def test_a_row_that_is_left_out_does_not_reach_its_own_prediction() -> None:
    rows = fitted_rows()
    at = next(at for at, row in enumerate(rows) if row.runtime == "hta" and row.latency_ms > 10)
    wrong = [*rows[:at], replace(rows[at], latency_ms=3 * rows[at].latency_ms), *rows[at + 1 :]]
    times = []
    for version in (rows, wrong):
        best, row = fit(version), version[at]
        times.append(left_out(version, best, {row: "it"}.get)[row])
    assert times[0] == pytest.approx(times[1], rel=0.02)
