"""A platform pairs chip and stack and refuses what they cannot do."""

import numpy as np
import pytest

from hexsim.datasheets.chips import SignedKernels
from hexsim.deployment import deploy
from hexsim.deployment.platform import Platform
from hexsim.dlc.loading import load
from hexsim.errors import HexsimError
from hexsim.quantization.quantizer import quantize
from tests.deployed import deployed


def test_the_chip_names_its_default_stack() -> None:
    assert Platform.load("sd835").stack.name == "snpe-1.23"
    assert Platform.load("sd835", "snpe-1.30").stack.name == "snpe-1.30"


def test_signed_weights_come_with_v65() -> None:
    model = load("conv1x1_1to1")
    chips = ("sd820", "sd835", "sd845", "sd855")
    signed = {chip: deployed(model, "dsp", chip).signed_kernels for chip in chips}
    assert signed == {
        "sd820": None,
        "sd835": None,
        "sd845": SignedKernels(65, 262_144),
        "sd855": SignedKernels(66, 262_144),
    }
    assert deployed(model, "fxp_cpu", "sd855").signed_kernels is None


def test_a_stack_without_the_runtime_refuses() -> None:
    with pytest.raises(HexsimError, match="stack tflite-hexagon has no fxp_cpu runtime"):
        deploy(load("conv1x1_1to1"), Platform.load("sd855", "tflite-hexagon"), "fxp_cpu")


def test_runtimes_are_those_that_can_be_simulated() -> None:
    assert Platform.load("sd835").runtimes == ("cpu", "fxp_cpu", "gpu", "gpu_fp16", "dsp")
    assert "fxp_cpu" not in Platform.load("sd865").runtimes, "QNN has no such runtime"
    assert "aip" in Platform.load("sd865").runtimes
    with pytest.raises(HexsimError, match="sd778g cannot be simulated on cpu"):
        _ = Platform.load("sd778g").runtimes


def test_idle_time_and_profiles_change_the_entry() -> None:
    deployment = deploy(load("conv1x1_1to1"), Platform.load("sd855"), "dsp")
    warm, cold = (deployment.simulate(idle_ms=idle) for idle in (0.0, 500.0))
    assert cold.total_ps > warm.total_ps
    assert {p.name for p in cold.overheads} > {p.name for p in warm.overheads}
    saver = deployment.simulate(perf_profile="low_power_saver")
    assert saver.layers[0].clock_hz < warm.layers[0].clock_hz


def test_quantizing_at_load_follows_the_release() -> None:
    ranges = {
        s: Platform.load("sd865", s).quantization_options.minimum_range
        for s in ("snpe-1.30", "qnn-2.45")
    }
    assert ranges == {"snpe-1.30": 0.01, "qnn-2.45": 0.0001}


def test_a_tiny_range_is_kept_where_the_release_keeps_it() -> None:
    network = load("conv1x1_1to1").network
    (name,) = network.inputs
    tiny = [{name: np.full((1, 1, 1, 1), 1e-4, np.float32)}]
    coarse, fine = (
        quantize(network, tiny, Platform.load("sd865", stack).quantization_options)
        for stack in ("snpe-1.30", "qnn-2.45")
    )
    assert coarse.activations[name].delta == pytest.approx(100 * fine.activations[name].delta)
