"""Points follow from their numbers: all combinations, each once, and draws of a hypercube."""

from collections import Counter

import numpy as np
import pytest

from hexsim.studies.sweep.points import Points


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
