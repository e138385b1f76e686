"""The fit to the published rows finds what is known, and says what it has not seen."""

from __future__ import annotations

import math
from dataclasses import replace

import pytest

from benchmarks.published_fit import (
    FAMILIES,
    bounded,
    bounds_prior,
    family_rows,
    fit,
    fitted_rows,
    left_out,
    parameters,
    predict_ms,
)
from hexsim.studies.calibration.prediction import MeasuredRun, Predictions


def test_what_is_known_before_is_the_middle_of_the_bounds() -> None:
    chosen = parameters("accelerators")
    prior = bounds_prior(chosen)
    for at, p in enumerate(chosen):
        assert math.exp(prior.mean[at]) == pytest.approx(math.sqrt(p.low * p.high))
        assert prior.precision[at, at] ** -0.5 == pytest.approx(math.log(p.high / p.low) / 4)


@pytest.mark.slow
def test_families_share_no_constant_and_together_have_all_rows() -> None:
    sets = [set(parameters(family)) for family in FAMILIES]
    assert all(sets)
    assert not set.intersection(*sets)
    assert set.union(*sets) == set(bounded("calibrated"))
    assert [row for family in FAMILIES for row in family_rows(family)] == fitted_rows()
    predictions = Predictions()
    read = [predictions.read(MeasuredRun.of(row)) for row in family_rows("accelerators")]
    assert not any(path.startswith("cpu_software.") for paths in read for path in paths)


@pytest.mark.slow
def test_the_cpu_constants_that_made_the_times_are_found() -> None:
    known = {p: math.sqrt(p.low * p.high) for p in parameters("cpu")}
    rows = [replace(row, latency_ms=predict_ms(row, known)) for row in family_rows("cpu")]
    best = fit(rows, "cpu")
    assert {p.path: best.values[p] / known[p] for p in known} == pytest.approx(
        {p.path: 1.0 for p in known}, rel=0.02
    )


@pytest.mark.slow
def test_the_fit_finds_the_constants_that_made_the_times() -> None:
    known = {p: math.sqrt(p.low * p.high) for p in parameters("accelerators")}
    seen = family_rows("accelerators")
    rows = [replace(row, latency_ms=predict_ms(row, known)) for row in seen]
    best = fit(rows, "accelerators")
    assert {p.path: best.values[p] / known[p] for p in known} == pytest.approx(
        {p.path: 1.0 for p in known}, rel=0.02
    )
    out = left_out(rows, best, lambda row: row.model if row.runtime == "hta" else None)
    for row, ms in out.items():
        assert (ms is None) == (row.runtime != "hta")
        assert ms is None or ms == pytest.approx(row.latency_ms, rel=0.02)


@pytest.mark.slow
def test_a_row_that_is_left_out_does_not_reach_its_own_prediction() -> None:
    rows = family_rows("accelerators")
    at = next(at for at, row in enumerate(rows) if row.runtime == "hta" and row.latency_ms > 10)
    wrong = [*rows[:at], replace(rows[at], latency_ms=3 * rows[at].latency_ms), *rows[at + 1 :]]
    times = []
    for version in (rows, wrong):
        best, row = fit(version, "accelerators"), version[at]
        times.append(left_out(version, best, {row: "it"}.get)[row])
    assert times[0] == pytest.approx(times[1], rel=0.02)
