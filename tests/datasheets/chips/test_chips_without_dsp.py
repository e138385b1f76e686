"""Chips without a DSP: their CPU and GPU simulate, and what is assumed of them is named."""

import pytest

from hexsim.api.model import load
from hexsim.datasheets import chips
from hexsim.deployment import deploy
from hexsim.deployment.platform import Platform
from hexsim.errors import HexsimError

NAMES = ("sd450", "sd625", "sd630", "sd636", "sd652")


@pytest.mark.parametrize("name", NAMES)
def test_cpu_and_gpu_are_simulated_and_the_dsp_is_refused(name: str) -> None:
    platform = Platform.load(name)
    assert platform.runtimes == ("cpu", "fxp_cpu", "gpu", "gpu_fp16")
    model = load("squeezenet1_1")
    for runtime in ("cpu", "gpu"):
        result = deploy(model, platform, runtime).simulate()
        assert result.total_ps > 0
        energy = platform.energy(result, None)
        assert energy is not None
    with pytest.raises(HexsimError, match=f"chip {name} has no dsp runtime"):
        deploy(model, platform, "dsp")


@pytest.mark.parametrize("name", NAMES)
def test_rates_and_bandwidths_are_assumed_with_bounds(name: str) -> None:
    chip = chips.load(name)
    constants = dict(chip.quantities())
    for path in (
        *("cpu.fp32_macs_per_clk", "cpu.int8_macs_per_clk", "cpu.bandwidth_bytes_per_s"),
        *("gpu.fp32_flops_per_clk", "gpu.fp16_flops_per_clk", "gpu.bandwidth_bytes_per_s"),
    ):
        constant = constants[path]
        assert constant.confidence == "assumed"
        assert constant.low is not None
        assert constant.high is not None
        assert constant.low <= constant.value <= constant.high
    assert chip.note


def test_a_slower_sibling_takes_longer() -> None:
    model = load("squeezenet1_1")
    slow, fast = (
        deploy(model, Platform.load(name), "gpu").simulate().total_ps for name in ("sd450", "sd625")
    )
    assert slow > fast
