from __future__ import annotations

import pytest

from benchmarks.entry_readings import constant_reading
from hexsim.datasheets import stacks
from hexsim.deployment import deploy
from hexsim.deployment.platform import Platform
from hexsim.dlc.loading import load
from hexsim.passes.network_inputs import resized
from hexsim.quantization.model import Model


def test_both_readings_agree_on_the_measured_size_and_nowhere_else() -> None:
    chosen = Platform.load("sd835", "snpe-1.23")
    other = Platform(chosen.chip, constant_reading(chosen.stack))
    network = load("squeezenet1_1").network
    ratio = {}
    for size in (96, 224, 448):
        model = Model(resized(network, {network.inputs[0]: (1, 3, size, size)}))
        workload = deploy(model, chosen, "dsp").workload()
        ratio[size] = other.simulate(workload).total_us / chosen.simulate(workload).total_us
    assert ratio[224] == pytest.approx(1, abs=1e-6)
    assert ratio[96] > 1.5
    assert ratio[448] < 0.8


def test_the_other_reading_is_the_callers_and_swept_no_more() -> None:
    stack = constant_reading(stacks.load("snpe-1.23"))
    for path in ("entry.input_conversion.clk_per_element", "dispatch.inference_clk"):
        constant = dict(stack.quantities())[path]
        assert constant.low == constant.high == constant.value
