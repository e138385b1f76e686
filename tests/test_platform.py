"""A platform pairs chip and stack and refuses what they cannot do."""

import pytest

from hexsim.errors import HexsimError
from hexsim.loading import load
from hexsim.platform import Platform


def test_the_chip_names_its_default_stack() -> None:
    assert Platform.load("sd835").stack.name == "snpe-1.23"
    assert Platform.load("sd835", "snpe-1.30").stack.name == "snpe-1.30"


def test_signed_weights_come_with_v65() -> None:
    signed = {
        c: Platform.load(c).signed_weights("dsp") for c in ("sd820", "sd835", "sd845", "sd855")
    }
    assert signed == {"sd820": False, "sd835": False, "sd845": True, "sd855": True}
    assert not Platform.load("sd855").signed_weights("fxp_cpu")


def test_a_stack_without_the_runtime_refuses() -> None:
    with pytest.raises(HexsimError, match="stack tflite-hexagon has no fxp_cpu runtime"):
        Platform.load("sd855", "tflite-hexagon").plan(load("conv1x1_1to1"), "fxp_cpu")


def test_runtimes_are_those_that_can_be_simulated() -> None:
    assert Platform.load("sd835").runtimes == ("cpu", "fxp_cpu", "gpu", "gpu_fp16", "dsp")
    assert "fxp_cpu" not in Platform.load("sd865").runtimes, "QNN has no such runtime"
    assert "aip" in Platform.load("sd865").runtimes
    with pytest.raises(HexsimError, match="sd888 cannot be simulated on cpu"):
        _ = Platform.load("sd888").runtimes


def test_idle_time_and_profiles_change_the_entry() -> None:
    platform = Platform.load("sd855")
    plan = platform.plan(load("conv1x1_1to1"), "dsp")
    warm, cold = (platform.simulate(plan, idle_ms=idle) for idle in (0.0, 500.0))
    assert cold.total_ps > warm.total_ps
    assert {p.name for p in cold.overheads} > {p.name for p in warm.overheads}
    saver = platform.simulate(plan, perf_profile="low_power_saver")
    assert saver.layers[0].clock_hz < warm.layers[0].clock_hz
