"""Average power of several inferences."""

from dataclasses import replace

import pytest

from hexsim.datasheets import chips
from hexsim.energy.account import inference_energy
from hexsim.energy.power import average_power_w, union_ps
from hexsim.timing.simtime import PS_PER_MS
from tests.energy.test_account import LAYER, inference

CHIP = chips.load("sd835")


def test_one_inference_has_its_energy_over_its_time() -> None:
    timing = inference((LAYER,))
    energy, power = (
        inference_energy(timing, CHIP, "turbo"),
        average_power_w([timing], CHIP, "turbo"),
    )
    # Millijoules in one millisecond are watts.
    assert power.value == pytest.approx(energy.millijoules)
    assert (power.low, power.high) == pytest.approx((energy.low, energy.high))


def test_two_at_once_count_twice_but_leak_once() -> None:
    timing = inference((LAYER,))
    single_w = average_power_w([timing], CHIP, "turbo").value
    two = average_power_w([timing, timing], CHIP, "turbo").value
    static = 0.03 + 0.06
    assert two == pytest.approx(2 * single_w - static)


def test_a_pause_lowers_the_average() -> None:
    first = inference((LAYER,))
    later = replace(first, start_ps=9 * PS_PER_MS, end_ps=10 * PS_PER_MS)
    moved = replace(later, layers=(replace(LAYER, start_ps=9 * PS_PER_MS),))
    alone = average_power_w([first], CHIP, "turbo").value
    assert average_power_w([first, moved], CHIP, "turbo").value == pytest.approx(alone / 5)


def test_no_inference_has_no_power() -> None:
    assert average_power_w([], CHIP, "turbo").value == 0.0


def test_the_union_of_intervals_counts_overlaps_once() -> None:
    assert union_ps([(5, 7), (0, 3), (2, 4), (6, 6)]) == 6
