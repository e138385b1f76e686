"""Rows under other constants: what is simulated again, and what a row weighs."""

from __future__ import annotations

import math
from collections import defaultdict

import pytest

from benchmarks.published_fit import (
    bounded,
    family_rows,
    fitted_rows,
    parameters,
    predict_ms,
)
from hexsim.studies.calibration.prediction import MeasuredRun, Parameter, weights


def test_a_run_published_as_two_numbers_counts_once() -> None:
    rows = family_rows("accelerators")
    total: dict[MeasuredRun, float] = defaultdict(float)
    for row, weight in zip(rows, weights(rows), strict=True):
        error = math.hypot(row.resolution_ms / row.latency_ms, 0.05)
        total[MeasuredRun.of(row)] += (weight * error) ** 2
    assert list(total.values()) == pytest.approx([1.0] * len(total))
    assert len(total) < len(rows)


def test_a_published_range_is_as_uncertain_as_it_is_wide() -> None:
    ends = [
        r for r in fitted_rows() if (r.model, r.runtime, r.forward) == ("alexnet", "cpu", False)
    ]
    assert [row.latency_ms for row in ends] == [196.0, 278.0]
    low, high = weights(ends)
    assert low == pytest.approx(2**-0.5 / math.hypot(41 / 196, 0.05))
    assert high == pytest.approx(2**-0.5 / math.hypot(41 / 278, 0.05))


def test_a_run_is_simulated_again_only_for_constants_it_reads() -> None:
    (gpu, *_) = [row for row in fitted_rows() if row.runtime == "gpu"]
    by_path = {p.path: p for p in parameters("accelerators")}
    nominal = predict_ms(gpu, {})
    assert predict_ms(gpu, {by_path["dispatch.node_clk"]: 1000.0}) == nominal
    assert predict_ms(gpu, {by_path["gpu.efficiency"]: 0.5}) < nominal


def test_rows_of_the_tensor_engine_are_fitted() -> None:
    rows = [row for row in fitted_rows() if row.runtime == "hta"]
    highest = {
        p: p.high for p in parameters("accelerators") if p.path.startswith("partitioning.hta")
    }
    assert sum(predict_ms(row, highest) for row in rows) > sum(predict_ms(row, {}) for row in rows)


def test_bounds_are_four_standard_deviations_apart() -> None:
    datasheets = frozenset({"a"})
    assert Parameter("x", datasheets, 1.0, 2.0, math.exp(4), "1").log_error == pytest.approx(1.0)
    from_zero = Parameter("x", datasheets, 0.0, 1.0, math.exp(4), "1")
    assert from_zero.log_error == pytest.approx(2.0)
    assert from_zero.moves
    assert not Parameter("x", datasheets, 0.0, 0.0, 1.0, "1").moves
    assert not Parameter("x", datasheets, 1.0, 1.0, 1.0, "1").moves


def test_constants_that_sheets_state_alike_are_one() -> None:
    labels = [p.label for p in bounded("assumed")]
    assert "qurt.wake_clk" in labels
    assert len({(p.path, p.datasheets) for p in bounded("assumed")}) == len(labels)
