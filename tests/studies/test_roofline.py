from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from hexsim import dlc
from hexsim.deployment.platform import Platform
from hexsim.deployment.source_model import Preparation
from hexsim.hta.array import MacArray
from hexsim.quantization.model import Model
from hexsim.results.benchmark import Inference
from hexsim.results.roofline import Roofline
from hexsim.runtimes import Runtime
from hexsim.studies.benchmark import BenchmarkConditions, run_case
from hexsim.studies.roofline import roofline
from tests.accuracy import culprits
from tests.charts import LAYERS, ROOFS, chart, layer
from tests.deployed import deployed
from tests.small_networks import Sketch


def simulated(network: str, chip: str, runtime: Runtime, profile: str | None = None) -> Inference:
    conditions = BenchmarkConditions(
        perf_profile=profile,
        accuracy=False,
        roofs=True,
        preparation=Preparation(quantize=runtime == "aip", sections="all"),
    )
    return run_case(network, Platform.load(chip), runtime, conditions)


def roofs_of(network: str, chip: str, runtime: Runtime, profile: str | None = None) -> Roofline:
    chart = simulated(network, chip, runtime, profile).roofline
    assert chart is not None
    return chart


def test_the_lowest_roof_counts_and_one_stream_is_none() -> None:
    dense, thin, wide, _ = LAYERS
    roofs = [(point.roof, point.roof_macs_per_s) for point in map(ROOFS.over, (dense, thin, wide))]
    assert roofs == [("HVX", 200e9), ("DDR", 20e9), ("L2", 25e9)]


def test_points_by_hand() -> None:
    dense, thin, wide = map(ROOFS.over, LAYERS[:3])
    assert (dense.ddr_macs_per_byte, dense.l2_macs_per_byte) == (100, 10)
    assert (dense.macs_per_s, dense.share_of_roof, dense.lost_us) == (100e9, 0.5, 0.5)
    assert (thin.share_of_roof, thin.lost_us) == (0.4, pytest.approx(0.6))
    assert (wide.share_of_roof, wide.lost_us) == (0.8, pytest.approx(0.2))


def test_a_layer_without_time_is_under_no_roof() -> None:
    """As one that a calibration makes shorter than half a picosecond."""
    platform = Platform.load("sd835")
    result = deployed(culprits.quantized(), "dsp", "sd835").simulate()
    first, *others = result.layers
    inference = replace(result.inferences[0], layers=(replace(first, duration_ps=0), *others))
    chart = roofline(replace(result, inferences=(inference,)), platform, "dsp")
    assert chart is not None
    assert first.name not in [point.name for point in chart.points]
    assert chart.other_layers == 1 + sum(not layer.macs for layer in others)


def test_a_layer_without_bytes_has_no_memory_over_it() -> None:
    point = ROOFS.over(layer("free", 50_000))
    assert point.roof == "HVX"
    assert point.ddr_macs_per_byte is point.l2_macs_per_byte is None


def test_what_loses_most_comes_first() -> None:
    assert [point.name for point in chart(*LAYERS).points] == ["thin", "dense", "wide"]


def test_roofs_follow_chip_and_profile() -> None:
    roofs = roofs_of("squeezenet1_1", "sd835", "dsp")
    memories = {memory.name: memory.bytes_per_s for memory in roofs.memories}
    assert roofs.peak_macs_per_s == 2 * 256 / 2 * 900e6  # workers x MAC/packet / clk/packet x clk/s
    assert memories["DDR"] == 29.8e9 * 0.8
    memory = Platform.load("sd835").chip.memory
    assert memories["one stream"] == memory.stream_bytes_in_flight / memory.dsp_latency_s
    assert memories["L2"] == 128 * 900e6
    saving = roofs_of("squeezenet1_1", "sd835", "dsp", "low_power_saver")
    assert saving.peak_macs_per_s == roofs.peak_macs_per_s / 2
    assert saving.memories[0].bytes_per_s == memories["DDR"] / 4
    assert roofs_of("squeezenet1_1", "sd855", "dsp").peak_macs_per_s == 1024 * 1306e6


@pytest.mark.parametrize("chip", ["sd835", "sd845", "sd855"])
@pytest.mark.parametrize("network", ["alexnet", "mobilenet_v2"])
def test_no_layer_is_above_its_roof_and_the_shares_make_the_whole(network: str, chip: str) -> None:
    case = simulated(network, chip, "dsp")
    chart = case.roofline
    assert chart is not None
    assert chart.points
    assert all(0 < point.share_of_roof <= 1 for point in chart.points)
    shown_us = sum(point.us for point in chart.points)
    assert shown_us / case.total_inference_us + chart.other_share == pytest.approx(1)
    assert len(chart.points) + chart.other_layers == len(case.layers)


@pytest.mark.parametrize(("runtime", "engine"), [("cpu", "cpu"), ("gpu", "gpu")])
def test_cpu_and_gpu_have_a_roof_of_their_own(runtime: Runtime, engine: str) -> None:
    chart = roofs_of("squeezenet1_1", "sd835", runtime)
    assert chart.engine == engine
    assert [memory.name for memory in chart.memories] == ["DDR"]
    assert all(point.share_of_roof <= 1 for point in chart.points)


def test_a_network_without_multiply_adds_has_none(tmp_path: Path) -> None:
    net = Sketch((1, 8, 8, 32))
    dlc.write(tmp_path / "pool.dlc", Model(net.network(net.pool("in"))))
    assert simulated(str(tmp_path / "pool.dlc"), "sd865", "aip").roofline is None


def test_a_network_that_is_mostly_on_the_tensor_engine_has_its_roofs() -> None:
    platform = Platform.load("sd855")
    case = simulated("squeezenet1_1", "sd855", "aip")
    chart = case.roofline
    assert chart is not None
    profile = platform.stack.profile(None)
    hta = platform.chip.hta
    clock_hz = hta.clock_hz(profile.dsp_corner)
    assert chart.engine == "hta"
    assert chart.peak_macs_per_s == pytest.approx(MacArray.of(hta).macs_per_clk * clock_hz)
    ports = {memory.name: memory.bytes_per_s for memory in chart.memories}
    assert ports["one way"] == hta.ddr_port_bytes_per_clk * clock_hz
    engines = {layer.name: layer.engine for layer in case.layers}
    assert {engines[point.name] for point in chart.points} == {"hta"}
    assert all(0 < point.share_of_roof <= 1 for point in chart.points)
