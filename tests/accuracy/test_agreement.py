"""Agreement counts winners and keeps margins in proportion."""

import numpy as np
import pytest

from hexsim.accuracy.agreement import agreement


def _run(*scores: float) -> dict[str, np.ndarray]:
    return {"prob": np.array([scores], np.float32)}


def test_one_of_two_winners_survives() -> None:
    float_runs = [_run(0.0, 1.0, 0.0), _run(0.6, 0.4, 0.0)]
    int_runs = [_run(0.0, 0.5, 0.0), _run(0.4, 0.6, 0.0)]
    result = agreement(float_runs, int_runs)
    assert (result.inputs, result.top1) == (2, 1)
    assert result.margin_ratio == pytest.approx((0.5 - 0.2) / (1.0 + 0.2))
    assert result.sqnr_db == pytest.approx(10 * np.log10(1.52 / (0.25 + 0.08)), rel=1e-4)


def test_identical_runs_agree_fully() -> None:
    runs = [_run(0.2, 0.8)]
    result = agreement(runs, runs)
    assert (result.top1, result.margin_ratio, result.sqnr_db) == (1, 1.0, float("inf"))
