"""Points follow from their numbers: all combinations, each once, and draws of a hypercube."""

from collections import Counter
from collections.abc import Callable

import numpy as np
import pytest

from hexsim.studies.sweep.points import Points
from hexsim.studies.sweep.settings import settings
from hexsim.studies.sweep.space import Space
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
        'networks = ["m.dlc"]\n[constants."dsp.hvx.contexts"]\nlow = 1\nhigh = 4\nsteps = 3\n'
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
