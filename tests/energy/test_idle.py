"""The island's rates follow voltage and clock; DDR follows nothing."""

import pytest

from hexsim.datasheets import chips, islands
from hexsim.energy.idle import idle_rates, island_rates

CHIP = chips.load("sd835")  # 10 nm, where prices are stated
ISLAND = islands.island_of(CHIP)


def test_a_lower_corner_spends_less_on_each_packet_and_on_its_clock() -> None:
    turbo, *_ = island_rates(CHIP, ISLAND, "turbo")
    svs, *_ = island_rates(CHIP, ISLAND, "svs")
    assert svs.scalar_packet_j == pytest.approx(turbo.scalar_packet_j * 0.75**2)
    # 1.5 mW leak with the voltage; 4 mW of clock tree at 200 of 500 MHz.
    assert svs.awake_w == pytest.approx(1.5e-3 * 0.75 + 4e-3 * 0.75**2 * 0.4)
    assert svs.retention_w == turbo.retention_w


def test_ends_enclose_and_ddr_does_not_scale_with_the_process() -> None:
    typical, low, high = idle_rates(CHIP)
    assert low.ddr_self_refresh_w < typical.ddr_self_refresh_w < high.ddr_self_refresh_w
    newer, *_ = idle_rates(chips.load("sd855"))
    assert newer.ddr_standby_w == typical.ddr_standby_w
    assert newer.dsp_asleep_w < typical.dsp_asleep_w
