from __future__ import annotations

import pytest

from hexsim.datasheets import chips, stacks
from hexsim.errors import HexsimError
from hexsim.simulation.phone import Phone


def phone(chip: str, stack: str, *profiles: str) -> Phone:
    software = stacks.load(stack)
    return Phone(chips.load(chip), software, [software.profile(name) for name in profiles])


def test_the_highest_vote_sets_the_clock() -> None:
    both = phone("sd855", "snpe-1.30", "power_saver", "burst").dsp
    assert both.clock_hz == phone("sd855", "snpe-1.30", "burst").dsp.clock_hz
    assert both.clock_hz > phone("sd855", "snpe-1.30", "power_saver").dsp.clock_hz


@pytest.mark.parametrize(("chip", "workers"), [("sd835", 2), ("sd845", 2), ("sd855", 4)])
def test_there_is_one_worker_per_vector_context(chip: str, workers: int) -> None:
    assert phone(chip, "snpe-1.30", "burst").dsp.target.workers == workers


def test_audio_takes_its_share_of_a_shared_l2() -> None:
    assert phone("sd835", "snpe-1.23", "burst").dsp.target.l2_bytes == 256 * 1024
    assert phone("sd845", "snpe-1.30", "burst").dsp.target.l2_bytes == 512 * 1024


def test_the_bus_vote_scales_the_bandwidth_and_half_of_the_latency() -> None:
    full = phone("sd835", "snpe-1.23", "burst").dsp.ddr.rule
    low = phone("sd835", "snpe-1.23", "low_power_saver").dsp.ddr.rule
    assert low.bytes_per_second == full.bytes_per_second / 4
    assert low.bytes_in_flight == full.bytes_in_flight
    assert low.latency_s == full.latency_s * (0.5 + 0.5 * 4)
    assert low.stream_bytes_per_second == low.bytes_in_flight / low.latency_s


def test_a_mispredicted_jump_costs_its_packets_and_the_way_to_l2() -> None:
    assert phone("sd835", "snpe-1.23", "burst").dsp.target.restart_slots == 5 + 12 // 2


def test_a_chip_without_a_dsp_says_so() -> None:
    with pytest.raises(HexsimError, match="sd625"):
        _ = phone("sd625", "snpe-1.23", "burst").dsp
