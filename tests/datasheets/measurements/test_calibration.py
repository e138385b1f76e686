"""The record of the fit says what the chip and stack files say, and what is simulated today."""

from __future__ import annotations

import math

import numpy as np
import pytest

from benchmarks.calibrate import LARGEST_ERROR
from benchmarks.published_fit import (
    FAMILIES,
    MOST_CONSTANTS,
    bounded,
    fitted_rows,
    parameters,
    predict_ms,
)
from hexsim.datasheets import chips, stacks
from hexsim.datasheets.measurements.calibration import CalibratedConstant, calibration

RENEW = "python -m benchmarks.calibrate --write"


def test_the_files_state_the_result_of_the_fit() -> None:
    stated = {(p.path, tuple(sorted(p.datasheets))): p for p in bounded("calibrated")}
    recorded = {(c.path, c.datasheets): c for c in calibration().constants}
    assert stated.keys() == recorded.keys(), RENEW
    assert all(len(parameters(family)) <= MOST_CONSTANTS for family in FAMILIES)
    for key, parameter in stated.items():
        constant = recorded[key]
        assert parameter.committed == constant.value, RENEW
        assert (parameter.low, parameter.high) == (constant.low, constant.high), RENEW
        assert parameter.unit == constant.unit


def test_the_measurements_alone_determine_every_calibrated_constant() -> None:
    errors = {c.path: math.exp(c.data_error) for c in calibration().constants}
    assert max(errors.values()) <= LARGEST_ERROR, errors


@pytest.mark.slow
def test_the_recorded_predictions_are_those_of_today() -> None:
    record, rows = calibration(), fitted_rows()
    assert len(record.predictions) == len(rows), RENEW
    column = record.columns.index("in sample")
    for row, predicted in zip(rows, record.predictions, strict=True):
        assert predict_ms(row, {}) == pytest.approx(predicted[column], rel=5e-3), RENEW
        unsaid = {"row left out"} - ({"row left out"} if row.runtime == "hta" else set())
        if row.runtime in FAMILIES["cpu"]:
            unsaid.add("chip left out")  # all these rows are of one chip
        for name, time in zip(record.columns, predicted, strict=True):
            assert (time is None) == (name in unsaid), RENEW


def test_the_correlation_is_one() -> None:
    matrix = np.array(calibration().correlation)
    assert np.allclose(matrix, matrix.T)
    assert np.allclose(np.diag(matrix), 1)
    assert np.linalg.eigvalsh(matrix).min() > 0
    assert matrix.shape == (len(calibration().constants),) * 2


@pytest.mark.slow
def test_every_trade_is_an_assumed_constant_of_its_datasheets() -> None:
    for trade in calibration().trades:
        for name in trade.datasheets:
            sheet = chips.load(name) if name in chips.names() else stacks.load(name)
            assert dict(sheet.quantities())[trade.path].confidence == "assumed", RENEW
        assert len(trade.at_low) == len(trade.at_high) == len(calibration().constants)


def test_an_interval_is_two_standard_errors_inside_the_bounds() -> None:
    free = CalibratedConstant("a", ("b",), "1", 1.0, 10.0, 100.0, math.log(2), math.log(3))
    assert free.interval == pytest.approx((2.5, 40.0))
    tight = CalibratedConstant("a", ("b",), "1", 9.0, 10.0, 11.0, math.log(2), math.log(3))
    assert tight.interval == (9.0, 11.0)


def test_only_the_datasheets_of_a_constant_find_it() -> None:
    path = "entry.input_conversion.clk_per_element"
    assert calibration().find("snpe-1.23", path) is not None
    assert calibration().find("snpe-1.30", path) is None
    assert calibration().trade("snpe-1.30", path) is None
