from __future__ import annotations

import math
from pathlib import Path

import pytest

from hexsim import dlc
from hexsim.deployment.given import Preparation
from hexsim.deployment.platform import Platform
from hexsim.errors import HexsimError
from hexsim.hta.array import MacArray
from hexsim.quantization.model import Model
from hexsim.runtimes import Runtime
from hexsim.studies.benchmark import BenchmarkConditions, run_case
from hexsim.studies.roofline import Roofline, RooflinePoint, roofline
from tests.charts import LAYERS, ROOFS, chart, layer
from tests.small_networks import Sketch


def simulated(network: str, chip: str, runtime: Runtime, profile: str | None = None) -> Roofline:
    platform = Platform.load(chip)
    conditions = BenchmarkConditions(perf_profile=profile, accuracy=False)
    case = run_case(network, platform, runtime, conditions)
    return roofline(case, platform)


def test_the_lowest_roof_counts_and_one_stream_is_none() -> None:
    dense, thin, wide, _ = LAYERS
    assert ROOFS.over(dense) == ("HVX", 200e9)
    assert ROOFS.over(thin) == ("DDR", 20e9)
    assert ROOFS.over(wide) == ("L2", 25e9)


def test_points_by_hand() -> None:
    dense, thin, wide = (RooflinePoint(layer, *ROOFS.over(layer)) for layer in LAYERS[:3])
    assert (dense.ddr_intensity, dense.l2_intensity) == (100, 10)
    assert (dense.macs_per_s, dense.share_of_roof, dense.lost_us) == (100e9, 0.5, 0.5)
    assert (thin.share_of_roof, thin.lost_us) == (0.4, pytest.approx(0.6))
    assert (wide.share_of_roof, wide.lost_us) == (0.8, pytest.approx(0.2))


def test_a_layer_without_bytes_has_no_memory_over_it() -> None:
    point = RooflinePoint(layer("free", 50_000), *ROOFS.over(layer("free", 50_000)))
    assert point.roof == "HVX"
    assert math.isinf(point.ddr_intensity)
    assert math.isinf(point.l2_intensity)


def test_what_loses_most_comes_first() -> None:
    assert [point.layer.name for point in chart(*LAYERS).points] == ["thin", "dense", "wide"]


def test_roofs_follow_chip_and_profile() -> None:
    roofs = simulated("squeezenet1_1", "sd835", "dsp").roofs
    memories = {memory.name: memory.bytes_per_s for memory in roofs.memories}
    assert roofs.peak_macs_per_s == 2 * 256 / 2 * 900e6  # workers x MAC/packet / clk/packet x clk/s
    assert memories["DDR"] == 29.8e9 * 0.8
    memory = Platform.load("sd835").chip.memory
    assert memories["one stream"] == memory.stream_bytes_in_flight / memory.dsp_latency_s
    assert memories["L2"] == 128 * 900e6
    saving = simulated("squeezenet1_1", "sd835", "dsp", "low_power_saver").roofs
    assert saving.peak_macs_per_s == roofs.peak_macs_per_s / 2
    assert saving.memories[0].bytes_per_s == memories["DDR"] / 4
    assert simulated("squeezenet1_1", "sd855", "dsp").roofs.peak_macs_per_s == 1024 * 1306e6


@pytest.mark.parametrize("chip", ["sd835", "sd845", "sd855"])
@pytest.mark.parametrize("network", ["alexnet", "mobilenet_v2"])
def test_no_layer_is_above_its_roof_and_the_shares_make_the_whole(network: str, chip: str) -> None:
    chart = simulated(network, chip, "dsp")
    assert chart.points
    assert all(0 < point.share_of_roof <= 1 for point in chart.points)
    shown_ps = sum(point.layer.duration_ps for point in chart.points)
    assert shown_ps / chart.case.timing.total_ps + chart.other_share == pytest.approx(1)
    assert len(chart.points) + chart.other_layers == len(chart.case.timing.layers)


@pytest.mark.parametrize(("runtime", "engine"), [("cpu", "cpu"), ("gpu", "gpu")])
def test_cpu_and_gpu_have_a_roof_of_their_own(runtime: Runtime, engine: str) -> None:
    chart = simulated("squeezenet1_1", "sd835", runtime)
    assert chart.roofs.engine == engine
    assert [memory.name for memory in chart.roofs.memories] == ["DDR"]
    assert all(point.share_of_roof <= 1 for point in chart.points)


def test_a_network_without_multiply_adds_is_refused(tmp_path: Path) -> None:
    net = Sketch((1, 8, 8, 32))
    dlc.write(tmp_path / "pool.dlc", Model(net.network(net.pool("in"))))
    platform = Platform.load("sd865")
    conditions = BenchmarkConditions(accuracy=False, preparation=Preparation(quantize=True))
    case = run_case(str(tmp_path / "pool.dlc"), platform, "aip", conditions)
    with pytest.raises(HexsimError, match="multiplies on HVX with runtime aip"):
        roofline(case, platform)


def test_a_network_that_is_mostly_on_the_tensor_engine_has_its_roofs() -> None:
    platform = Platform.load("sd855")
    conditions = BenchmarkConditions(accuracy=False, preparation=Preparation(quantize=True))
    chart = roofline(run_case("squeezenet1_1", platform, "aip", conditions), platform)
    profile = platform.stack.profile(None)
    hta = platform.chip.hta
    clock_hz = hta.clock_hz(profile.dsp_corner)
    assert chart.roofs.engine == "hta"
    assert chart.roofs.peak_macs_per_s == pytest.approx(MacArray.of(hta).macs_per_clk * clock_hz)
    ports = {memory.name: memory.bytes_per_s for memory in chart.roofs.memories}
    assert ports["one way"] == hta.ddr_port_bytes_per_clk * clock_hz
    assert {point.layer.engine for point in chart.points} == {"hta"}
    assert all(0 < point.share_of_roof <= 1 for point in chart.points)
