"""Points follow from their numbers: all combinations, each once, and draws of a hypercube.

A point's row says what the other entry points say of the same design.
"""

from collections import Counter
from collections.abc import Callable

import numpy as np
import pytest

import hexsim
from hexsim.deployment import deploy
from hexsim.deployment.platform import Platform
from hexsim.studies.sweep.points import COUNTERS, Points, row
from hexsim.studies.sweep.settings import settings
from hexsim.studies.sweep.space import Space
from hexsim.studies.throughput import Caller, ClosedLoop, throughput
from tests.studies.sweep.conftest import GRID


def test_all_combinations_are_there_once(grid: Points) -> None:
    assert len(grid) == 4 * 2 * 2 * 3 * 3
    seen = Counter(
        (
            point.setting.platform.chip.name,
            point.setting.runtime,
            point.calling.idle_ms,
            point.constants["dsp.hvx.contexts"],
            round(point.constants["memory.ddr_peak_bytes_per_s"]),
        )
        for point in (grid[number] for number in range(len(grid)))
    )
    assert len(seen) == 4 * 2 * 2 * 3
    assert set(seen.values()) == {3}
    assert {round(key[-1]) for key in seen} == {10**10, 2 * 10**10, 4 * 10**10}


def test_a_space_counts_its_points_before_they_are_ready(space: Callable[[str], Space]) -> None:
    for text in (
        GRID,
        'networks = ["m.dlc"]\nchips = ["sd855"]\nstacks = ["snpe-1.30", "snpe-1.23"]\n'
        'runtimes = ["dsp", "aip"]\ncuts = ["automatic", "fastest"]\n'
        '[workload]\ninstances = [1, 2]\nperf_profiles = ["burst", "default", "balanced"]',
        'networks = ["m.dlc"]\nchips = ["sd8gen3"]\nruntimes = ["htp"]\nvtcm_mb = [1, 2, 4]\n'
        "[workload]\ninstances = [1, 2]",
    ):
        asked = space(text)
        assert asked.count == len(Points(asked, settings(asked)))


def test_what_is_counted_is_reported_as_it_is_simulated(space: Callable[[str], Space]) -> None:
    asked = space(
        'networks = ["m.dlc"]\nchips = ["sd855"]\n'
        '[constants."dsp.hvx.contexts"]\nlow = 1\nhigh = 4\nsteps = 3\n'
        '[constants."memory.efficiency"]\nvalues = [0.55]'
    )
    points = Points(asked, settings(asked))
    counts = [points[number].constants["dsp.hvx.contexts"] for number in range(3)]
    assert counts == [1.0, 2.0, 4.0]
    assert points[0].constants["memory.efficiency"] == 0.55


def test_draws_take_every_part_of_the_range_and_are_those_of_all_others(grid: Points) -> None:
    stated = grid.settings[0].constants["memory.efficiency"]
    low, high = stated.low or 0, stated.high or 0
    drawn = [grid[number].constants["memory.efficiency"] for number in range(3)]
    parts = sorted(int((value - low) / (high - low) * 3) for value in drawn)
    assert parts == [0, 1, 2]
    assert drawn == [grid[number].constants["memory.efficiency"] for number in range(3, 6)]


def test_numbers_beyond_the_last_are_none(grid: Points) -> None:
    for number in (-1, len(grid)):
        with pytest.raises(IndexError):
            grid[number]


def test_a_point_has_the_constants_that_it_says(grid: Points) -> None:
    for number in np.random.default_rng(1).integers(0, len(grid), 10):
        point = grid[int(number)]
        platform = point.setting.platform_with(point.constants)
        stated = dict(platform.chip.quantities())
        for path, value in point.constants.items():
            assert stated[path].value == value
        assert platform.chip.dsp.hvx.contexts == point.constants["dsp.hvx.contexts"]
        assert platform.stack == point.setting.platform.stack


def points_of(asked: Space) -> Points:
    return Points(asked, settings(asked))


def test_a_point_as_stated_is_what_simulate_says(space: Callable[[str], Space]) -> None:
    points = points_of(space('networks = ["m.dlc"]\nchips = ["sd835"]\nruntimes = ["dsp", "gpu"]'))
    for point in points:
        cells = row(point, 1)
        simulation = hexsim.simulate("m.dlc", "sd835", point.setting.runtime)
        timing = simulation.timing
        assert cells["latency_ms"] == pytest.approx(timing.total_us / 1000, rel=1e-12)
        assert cells["forward_ms"] == pytest.approx(timing.forward_us / 1000, rel=1e-12)
        assert cells["initialisation_ms"] == timing.init_ps / 1e9
        assert cells["peak_memory_bytes"] == simulation.memory.peak_bytes
        assert cells["energy_mj"] == simulation.energy.millijoules
        assert cells["energy_high_mj"] == simulation.energy.high
        assert cells["macs"] == sum(layer.macs for layer in timing.layers)
        assert cells["refusal"] is None


def test_a_changed_constant_is_what_a_changed_chip_says(grid: Points) -> None:
    network = hexsim.load("m.dlc")
    for number in np.random.default_rng(7).integers(0, len(grid), 6):
        point = grid[int(number)]
        chip = point.setting.platform.chip
        for path, value in point.constants.items():
            chip = chip.with_value(path, value)

        deployment = deploy(
            network, Platform(chip, point.setting.platform.stack), point.setting.runtime
        )
        timing = deployment.simulate(idle_ms=point.calling.idle_ms)
        assert row(point, 1)["latency_ms"] == timing.total_ps / 1e9


def test_several_instances_are_a_closed_loop(space: Callable[[str], Space]) -> None:
    text = 'networks = ["m.dlc"]\nchips = ["sd855"]\n[workload]\ninstances = [2]\ninferences = 4'
    (point,) = points_of(space(text))
    cells = row(point, 4)
    simulated = throughput(
        point.setting.platform, [Caller(point.setting.subject, 2)], ClosedLoop(inferences=4)
    )
    assert cells["inferences_per_s"] == simulated.total.inferences_per_second
    assert cells["latency_ms"] == pytest.approx(simulated.total.latency_us["median"] / 1e3)


def test_a_value_that_the_schema_refuses_is_reported_in_the_row(
    space: Callable[[str], Space],
) -> None:
    text = (
        'networks = ["m.dlc"]\nchips = ["sd855"]\n[constants."dsp.hvx.contexts"]\nvalues = [-1, 2]'
    )
    bad, good = (row(point, 1) for point in points_of(space(text)))
    assert "dsp.hvx.contexts" in str(bad["refusal"])
    assert {bad[name] for name in ("latency_ms", "energy_mj", *COUNTERS)} == {None}
    assert good["refusal"] is None


@pytest.mark.parametrize(
    ("path", "value", "said"),
    [
        ("memory.ddr_peak_bytes_per_s", 1e-300, "so slow that its work never ends"),
        ("load.create_s_per_layer", 1e300, "too long to simulate"),
        ("memory.stream_bytes_in_flight", 0, "expected greater than 0"),
        ("dsp.hardware_threads", 1e18, "expected less than or equal to 1024"),
        ("hta.local_bytes", 1, "expected greater than or equal to 1024"),
    ],
)
def test_what_cannot_be_simulated_is_a_refusal_and_ends_no_sweep(
    space: Callable[[str], Space], path: str, value: float, said: str
) -> None:
    text = f'networks = ["m.dlc"]\nchips = ["sd855"]\n[constants."{path}"]\nvalues = [{value}]'
    (point,) = points_of(space(text))
    assert said in str(row(point, 1)["refusal"])


@pytest.mark.parametrize("path", ["memory.dsp_latency_s", "entry.rpc.pm_qos.job_1200us_s"])
def test_what_takes_no_time_can_be_asked(space: Callable[[str], Space], path: str) -> None:
    text = f'networks = ["m.dlc"]\nchips = ["sd855"]\n[constants."{path}"]\nvalues = [0.0]'
    (point,) = points_of(space(text))
    cells = row(point, 1)
    assert cells["refusal"] is None
    assert cells["energy_mj"]


def test_values_outside_their_bounds_are_marked(space: Callable[[str], Space]) -> None:
    text = (
        'networks = ["m.dlc"]\nchips = ["sd855"]\n'
        '[constants."memory.efficiency"]\nvalues = [0.01, 0.8]'
    )
    marks = [row(point, 1)["outside_bounds"] for point in points_of(space(text))]
    assert marks == ["memory.efficiency", ""]
