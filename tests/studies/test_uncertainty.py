"""The interval of a time: what is swept, how sensitivities add up, what random sampling says.

Platforms drawn whole: even, tied as the fit ties them, and the same for everybody.

Draws by workers are those of one process to the last bit.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from functools import cache
from pathlib import Path

import numpy as np
import pytest
from msgspec import structs

from hexsim.datasheets import chips, stacks
from hexsim.datasheets.datasheet import datasheet_text
from hexsim.datasheets.measurements.calibration import STANDARD_ERRORS, calibration
from hexsim.datasheets.quantity import Quantity
from hexsim.deployment.platform import Platform
from hexsim.dlc.loading import load
from hexsim.results.benchmark import Inference
from hexsim.runtimes import Runtime
from hexsim.simulation.simulator import Workload
from hexsim.studies.benchmark import BenchmarkConditions, run_benchmark
from hexsim.studies.calibration import prediction
from hexsim.studies.calibration.prediction import DatasheetT
from hexsim.studies.processes import Processes, processes
from hexsim.studies.uncertainty import (
    ConstantSensitivity,
    DrawnTimes,
    Times,
    Uncertainty,
    combined,
    drawn,
    drawn_by,
    draws,
    latin_hypercube,
    sweep,
)
from tests.deployed import deployed

NETWORK = "squeezenet1_1"
SMALLER = "ds_cnn_s"

MADE_UP = Quantity(value=1.5, unit="1", source="made up", confidence="assumed", low=1.0, high=3.0)


def case(
    runtime: Runtime = "dsp", chip: str = "sd835", network: str = NETWORK
) -> tuple[Platform, Workload]:
    deployment = deployed(load(network), runtime, chip)  # on stacks that refuse floats too
    return deployment.platform, deployment.workload()


def swept(platform: Platform, workload: Workload) -> Uncertainty:
    return sweep(platform, lambda changed: changed.simulate(workload))


@cache
def swept_case(
    runtime: Runtime = "dsp", chip: str = "sd835", network: str = NETWORK
) -> Uncertainty:
    return swept(*case(runtime, chip, network))


def paths(uncertainty: Uncertainty) -> set[str]:
    return {sensitivity.path for sensitivity in uncertainty.sensitivities}


def made_up(path: str, low: float, high: float, *, calibrated: bool = False) -> ConstantSensitivity:
    """A made-up constant between 1 and e that scales both times by `low` and `high`."""
    stated = dict(stacks.load("snpe-1.23").quantities())
    constant = stated[path] if calibrated else MADE_UP
    ends = (Times(100 * factor, 50 * factor) for factor in (low, high))
    return ConstantSensitivity("snpe-1.23", path, constant, 1.0, math.e, *ends)


@pytest.mark.slow
def test_the_interval_holds_the_time_and_is_the_same_every_time() -> None:
    first, second = swept_case(), swept(*case())
    assert first == second
    for figure in (0, 1):
        assert 0 < first.low[figure] < first.nominal[figure] < first.high[figure]
    assert first.nominal.forward_us < first.nominal.total_us
    assert sum(first.shares) == pytest.approx(1)
    assert list(first.shares) == sorted(first.shares, reverse=True)


def test_a_constant_stated_at_its_own_bound_swings_to_the_other_side_only() -> None:
    """The calibrated ones answer to what moves, and nothing moves at this end."""
    swept = swept_case("cpu")
    (peak,) = [
        sensitivity
        for sensitivity in swept.sensitivities
        if sensitivity.path == "cpu.fp32_macs_per_clk"
    ]
    assert peak.low == peak.constant.value
    assert peak.at_low == swept.nominal
    assert peak.at_high != swept.nominal


@pytest.mark.slow
def test_only_what_the_runtime_reads_is_swept() -> None:
    dsp, gpu = paths(swept_case("dsp")), paths(swept_case("gpu"))
    assert {"dispatch.node_clk", "kernels.stall_factor"} <= dsp
    assert {"gpu.efficiency", "gpu.layer_s"} <= gpu
    assert dsp & gpu == {"application.copy_s_per_element"}
    assert not any(path.startswith(("profiles.burst", "load.")) for path in dsp | gpu)


@pytest.mark.slow
def test_a_constant_that_the_caller_sets_is_not_in_doubt() -> None:
    platform, workload = case()
    before = swept(platform, workload)
    for sensitivity in before.sensitivities:
        if sensitivity.datasheet == platform.chip.name:
            chip = platform.chip.with_value(sensitivity.path, sensitivity.constant.value)
            platform = Platform(chip, platform.stack)
        else:
            stack = platform.stack.with_value(sensitivity.path, sensitivity.constant.value)
            platform = Platform(platform.chip, stack)
    after = swept(platform, workload)
    assert after.sensitivities == ()
    assert after.low[:2] == after.high[:2] == after.nominal[:2] == before.nominal[:2]
    assert after.low.initialisation_us < before.nominal.initialisation_us, "by constants of its own"


def test_assumed_constants_add_in_quadrature_and_each_way_apart() -> None:
    uncertainty = combined(
        Times(100, 50),
        [made_up("a", 1 / math.e, 1.0), made_up("b", math.e**2, math.e ** (-0.5))],
    )
    assert uncertainty.low.total_us == pytest.approx(100 * math.exp(-math.hypot(1.0, 0.5)))
    assert uncertainty.high.total_us == pytest.approx(100 * math.exp(2.0))
    assert [sensitivity.path for sensitivity in uncertainty.sensitivities] == ["b", "a"]
    assert uncertainty.shares == pytest.approx((0.8, 0.2))


def test_calibrated_constants_add_with_the_correlation_of_the_fit() -> None:
    record = calibration()
    node_cost, other = "dispatch.node_clk", "entry.input_conversion.clk_per_element"
    i, j = (record.find("snpe-1.23", path) for path in (node_cost, other))
    assert i is not None
    assert j is not None
    uncertainty = combined(
        Times(100, 50),
        [
            made_up(node_cost, 1.0, math.e, calibrated=True),
            made_up(other, 1.0, math.e, calibrated=True),
        ],
    )
    first, second = record.constants[i].log_error, record.constants[j].log_error
    variance = first**2 + second**2 + 2 * record.correlation[i][j] * first * second
    assert uncertainty.high.total_us == pytest.approx(
        100 * math.exp(STANDARD_ERRORS * math.sqrt(variance)), rel=1e-6
    )
    assert uncertainty.low.total_us * uncertainty.high.total_us == pytest.approx(100**2)


def test_an_assumed_constant_takes_the_calibrated_ones_along() -> None:
    """The GPU's efficiency was fitted with its assumed peak: only their product is known."""
    (peak,) = [
        sensitivity
        for sensitivity in swept_case("gpu").sensitivities
        if sensitivity.path == "gpu.fp32_flops_per_clk"
    ]
    platform, workload = case("gpu")
    alone = platform.chip.with_value(peak.path, peak.low)
    held = Platform(alone, platform.stack).simulate(workload).total_us
    nominal = platform.simulate(workload).total_us
    assert abs(math.log(peak.at_low.total_us / nominal)) < 0.5 * abs(math.log(held / nominal))


@pytest.mark.slow
@pytest.mark.parametrize(
    ("chip", "runtime"), [("sd835", "dsp"), ("sd835", "gpu"), ("sd855", "dsp")]
)
def test_about_nine_in_ten_samples_of_all_constants_are_inside(chip: str, runtime: Runtime) -> None:
    platform, workload = case(runtime, chip)
    uncertainty = swept(platform, workload)
    samples = drawn(draws(platform, 200), workload)
    times = np.array([sample.total_us for sample in samples.times])
    inside = np.mean((times >= uncertainty.low.total_us) & (times <= uncertainty.high.total_us))
    assert 0.85 <= inside <= 0.99
    middle = np.percentile(times, 95) - np.percentile(times, 5)
    assert middle > 0.5 * (uncertainty.high.total_us - uncertainty.low.total_us)


@pytest.mark.parametrize(
    "chip",
    [
        pytest.param(name, marks=[] if name in {"sd820", "sd855", "sd750g"} else pytest.mark.slow)
        for name in chips.names()
        if chips.load(name).simulates("dsp")
    ],
)
def test_every_chip_has_an_interval(chip: str) -> None:
    uncertainty = swept_case("dsp", chip, SMALLER)
    assert uncertainty.low.total_us < uncertainty.high.total_us


DRAWS_COUNT = 40


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
    drawn_logs = np.array(logs(draws(platform, DRAWS_COUNT), "stack", "dispatch.inference_clk"))
    slices = ((drawn_logs - low) / (high - low) * DRAWS_COUNT).astype(int)
    assert sorted(slices) == list(range(DRAWS_COUNT))


def only_calibrated(datasheet: DatasheetT) -> DatasheetT:
    """The datasheet with no assumed constant in doubt."""
    return datasheet.restated(
        {
            path: structs.replace(constant, low=constant.value, high=constant.value)
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
    workload = prediction.deployed(load("conv1x1_8to8"), platform, "dsp").workload()
    spread = drawn(draws(platform, DRAWS_COUNT), workload)
    assert len(spread.times) == DRAWS_COUNT
    assert spread.low.total_us < platform.simulate(workload).total_us < spread.high.total_us


def test_a_benchmark_draws_the_same_for_all_cases() -> None:
    platform = Platform.load("sd835")
    conditions = BenchmarkConditions(accuracy=False, draws=4)
    cases = list(run_benchmark(["conv1x1_8to8"], platform, ["dsp", "gpu"], conditions))
    for case in cases:
        assert isinstance(case, Inference)
        workload = prediction.deployed(load("conv1x1_8to8"), platform, case.runtime).workload()
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


SHARED_DRAWS_COUNT = 11
"""So many that parts of two processes are not all of one size."""


@pytest.fixture(scope="module", params=[1, 2])
def pool(request: pytest.FixtureRequest) -> Iterator[Processes]:
    with processes(request.param) as started:
        yield started


def work(runtime: str, chip: str) -> tuple[Platform, Workload]:
    deployment = deployed(load("ds_cnn_s"), runtime, chip)  # type: ignore[arg-type]
    return deployment.platform, deployment.workload()


@pytest.mark.parametrize(("runtime", "chip"), [("dsp", "sd855"), ("htp", "sd8gen3")])
def test_times_are_equal(pool: Processes, runtime: str, chip: str) -> None:
    platform, workload = work(runtime, chip)
    expected = drawn(draws(platform, SHARED_DRAWS_COUNT), workload)
    assert drawn_by(pool, platform, SHARED_DRAWS_COUNT, workload) == expected
    assert len(set(expected.times)) == SHARED_DRAWS_COUNT


@pytest.mark.slow
def test_a_part_of_the_draws_is_that_part() -> None:
    platform = Platform.load("sd855")
    assert draws(platform, 5, slice(1, 3)) == draws(platform, 5)[1:3]
