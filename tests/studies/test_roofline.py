from __future__ import annotations

import math

import pytest

from hexsim.deployment.given import Preparation
from hexsim.errors import HexsimError
from hexsim.platform import Platform
from hexsim.runtimes import Runtime
from hexsim.studies.benchmark import BenchmarkConditions, run_case
from hexsim.studies.roofline import Point, Roofline, roofline
from tests.charts import LAYERS, ROOFS, chart, layer


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
    dense, thin, wide = (Point(one, *ROOFS.over(one)) for one in LAYERS[:3])
    assert (dense.ddr_intensity, dense.l2_intensity) == (100, 10)
    assert (dense.macs_per_s, dense.share_of_roof, dense.lost_us) == (100e9, 0.5, 0.5)
    assert (thin.share_of_roof, thin.lost_us) == (0.4, pytest.approx(0.6))
    assert (wide.share_of_roof, wide.lost_us) == (0.8, pytest.approx(0.2))


def test_a_layer_without_bytes_has_no_memory_over_it() -> None:
    point = Point(layer("free", 50_000), *ROOFS.over(layer("free", 50_000)))
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
    found = simulated(network, chip, "dsp")
    assert found.points
    assert all(0 < point.share_of_roof <= 1 for point in found.points)
    shown_ps = sum(point.layer.duration_ps for point in found.points)
    assert shown_ps / found.case.timing.total_ps + found.other_share == pytest.approx(1)
    assert len(found.points) + found.other_layers == len(found.case.timing.layers)


@pytest.mark.parametrize(("runtime", "engine"), [("cpu", "cpu"), ("gpu", "gpu")])
def test_cpu_and_gpu_have_a_roof_of_their_own(runtime: Runtime, engine: str) -> None:
    found = simulated("squeezenet1_1", "sd835", runtime)
    assert found.roofs.engine == engine
    assert [memory.name for memory in found.roofs.memories] == ["DDR"]
    assert all(point.share_of_roof <= 1 for point in found.points)


def test_a_network_without_layers_on_the_engine_is_refused() -> None:
    platform = Platform.load("sd865")
    conditions = BenchmarkConditions(accuracy=False, preparation=Preparation(quantize=True))
    case = run_case("mobilenet_v1", platform, "aip", conditions)
    with pytest.raises(HexsimError, match="multiplies on HVX with runtime aip"):
        roofline(case, platform)
