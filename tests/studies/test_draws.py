"""Platforms drawn whole: even, tied as the fit ties them, and the same for everybody."""

from __future__ import annotations

import math
from pathlib import Path

import numpy as np
import pytest

from hexsim.datasheets.datasheet_text import datasheet_text
from hexsim.datasheets.measurements.calibration import calibration
from hexsim.datasheets.quantity import Quantity
from hexsim.deployment.platform import Platform
from hexsim.dlc.loading import load
from hexsim.results.benchmark import Inference
from hexsim.studies.benchmark import BenchmarkConditions, run_benchmark
from hexsim.studies.calibration.constants import DatasheetT
from hexsim.studies.calibration.prediction import deployed
from hexsim.studies.draws import DrawnTimes, drawn, draws, latin_hypercube
from hexsim.studies.uncertainty import Times

COUNT = 40


def logs(platforms: tuple[Platform, ...], side: str, path: str) -> list[float]:
    stated = (dict(getattr(platform, side).quantities()) for platform in platforms)
    return [math.log(constants[path].value) for constants in stated]


def test_every_slice_of_every_side_holds_one_point() -> None:
    points = latin_hypercube(10, 3)
    assert points.shape == (10, 3)
    for side in points.T:
        assert sorted((side * 10).astype(int)) == list(range(10))
    assert np.any(points[:, 0].argsort() != points[:, 1].argsort())


def test_draws_stay_inside_the_bounds_and_leave_the_rest_alone() -> None:
    platform = Platform.load("sd865")
    for draw in draws(platform, 5):
        for before, after in ((platform.chip, draw.chip), (platform.stack, draw.stack)):
            stated = dict(after.quantities())
            for path, constant in before.quantities():
                if constant.low is None or constant.high is None:
                    assert stated[path] == constant
                else:
                    assert constant.low <= stated[path].value <= constant.high


def test_draws_are_the_same_every_time_and_differ_among_themselves() -> None:
    first, second = (draws(Platform.load("sd855"), 3) for _ in range(2))
    assert first == second
    assert len({platform.stack.dispatch.inference_clk for platform in first}) == 3


def test_an_assumed_constant_is_even_in_logarithms() -> None:
    platform = Platform.load("sd855")
    constant = dict(platform.stack.quantities())["dispatch.inference_clk"]
    low, high = math.log(constant.low or 0), math.log(constant.high or 0)
    drawn_logs = np.array(logs(draws(platform, COUNT), "stack", "dispatch.inference_clk"))
    slices = ((drawn_logs - low) / (high - low) * COUNT).astype(int)
    assert sorted(slices) == list(range(COUNT))


def only_calibrated(datasheet: DatasheetT) -> DatasheetT:
    """The datasheet with no assumed constant in doubt."""
    return datasheet.restated(
        {
            path: constant.model_copy(update={"low": constant.value, "high": constant.value})
            for path, constant in datasheet.quantities()
            if constant.confidence == "assumed"
        }
    )


def test_calibrated_constants_have_the_errors_and_the_correlation_of_the_fit() -> None:
    record, platform = calibration(), Platform.load("sd835", "snpe-1.23")
    platform = Platform(only_calibrated(platform.chip), only_calibrated(platform.stack))
    platforms = draws(platform, 300)
    paths = ("gpu.layer_s", "gpu.efficiency")
    i, j = (record.find("snpe-1.23", path) for path in paths)
    assert i is not None
    assert j is not None
    first, second = (logs(platforms, "stack", path) for path in paths)
    assert np.corrcoef(first, second)[0, 1] == pytest.approx(record.correlation[i][j], abs=0.1)
    for index, sample in ((i, first), (j, second)):
        fitted = record.constants[index]
        middle = math.log(fitted.value)
        assert np.mean(sample) == pytest.approx(middle, abs=0.1 * fitted.log_error)
        assert np.std(sample) == pytest.approx(fitted.log_error, rel=0.1)


@pytest.mark.slow
def test_calibrated_constants_follow_the_assumed_ones_that_they_trade_with() -> None:
    platforms = draws(Platform.load("sd835", "snpe-1.23"), 300)
    peak = logs(platforms, "chip", "gpu.fp32_flops_per_clk")
    efficiency = logs(platforms, "stack", "gpu.efficiency")
    assert np.corrcoef(peak, efficiency)[0, 1] < -0.5


def test_a_calibration_of_ones_own_is_drawn_around_its_value() -> None:
    platform = Platform.load("sd845")
    own = Quantity(
        value=10_000, unit="clk", source="a", confidence="calibrated", low=8000, high=12_500
    )
    mine = Platform(platform.chip, platform.stack.restated({"dispatch.node_clk": own}))
    logarithms = logs(draws(mine, 100), "stack", "dispatch.node_clk")
    assert np.mean(logarithms) == pytest.approx(math.log(10_000), abs=0.01)
    assert np.std(logarithms) == pytest.approx(math.log(12_500 / 8000) / 4, rel=0.1)


def test_whole_numbers_stay_whole() -> None:
    for draw in draws(Platform.load("sd865"), 4):
        assert isinstance(draw.chip.dsp.l2_bytes, int)


def test_the_ends_are_percentiles() -> None:
    wide = DrawnTimes(tuple(Times(float(at), 2.0 * at) for at in range(101)))
    assert (wide.low, wide.high) == (Times(5.0, 10.0), Times(95.0, 190.0))


def test_drawn_times_surround_the_stated_one() -> None:
    platform = Platform.load("sd855")
    workload = deployed(load("conv1x1_8to8"), platform, "dsp").workload()
    spread = drawn(draws(platform, COUNT), lambda changed: changed.simulate(workload))
    assert len(spread.times) == COUNT
    assert spread.low.total_us < platform.simulate(workload).total_us < spread.high.total_us


def test_a_benchmark_draws_the_same_for_all_cases() -> None:
    platform = Platform.load("sd835")
    conditions = BenchmarkConditions(accuracy=False, draws=4)
    cases = list(run_benchmark(["conv1x1_8to8"], platform, ["dsp", "gpu"], conditions))
    for case in cases:
        assert isinstance(case, Inference)
        workload = deployed(load("conv1x1_8to8"), platform, case.runtime).workload()
        expected = [draw.simulate(workload).total_us for draw in draws(platform, 4)]
        assert case.draws is not None
        assert case.draws.totals_us == pytest.approx(expected)
    (plain,) = run_benchmark(
        ["conv1x1_8to8"], platform, ["gpu"], BenchmarkConditions(accuracy=False)
    )
    assert isinstance(plain, Inference)
    assert plain.draws is None


def test_a_file_of_ones_own_is_drawn_as_the_sheet_it_was_written_from(tmp_path: Path) -> None:
    platform = Platform.load("sd835")
    file = tmp_path / "same.toml"
    file.write_text(datasheet_text(platform.stack, platform.stack.title), encoding="utf-8")
    again = Platform.load("sd835", file)
    assert draws(again, 2) == draws(platform, 2)
