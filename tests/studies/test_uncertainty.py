"""The interval of a time: what is swept, how sensitivities add up, what random sampling says."""

from __future__ import annotations

import math
from functools import cache

import numpy as np
import pytest

from hexsim.datasheets import chips, stacks
from hexsim.datasheets.measurements.calibration import STANDARD_ERRORS, calibration
from hexsim.datasheets.quantity import Quantity
from hexsim.deployment.platform import Platform
from hexsim.dlc.loading import load
from hexsim.runtimes import Runtime
from hexsim.simulation.simulator import Workload
from hexsim.studies.draws import drawn, draws
from hexsim.studies.uncertainty import ConstantSensitivity, Times, Uncertainty, combined, sweep
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
    assert after.low == after.high == after.nominal == before.nominal


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
    samples = drawn(draws(platform, 200), lambda changed: changed.simulate(workload))
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
