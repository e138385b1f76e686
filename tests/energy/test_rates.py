"""Voltage, clock and process in the rates.

The island's rates follow voltage and clock; DDR follows nothing.
"""

import pytest

from hexsim.datasheets import chips, islands
from hexsim.energy.rates import idle_rates, island_rates, rates


def test_switching_goes_with_the_square_of_the_voltage_and_the_clock_tree_with_its_clock() -> None:
    chip = chips.load("sd835")
    turbo, *_ = rates(chip, "turbo")
    nominal, *_ = rates(chip, "nominal_plus")
    square = 0.88**2
    assert nominal.l2_j == pytest.approx(turbo.l2_j * square)
    clock = 765e6 / 900e6
    assert nominal.clock_tree_w["dsp"] == pytest.approx(turbo.clock_tree_w["dsp"] * square * clock)
    assert nominal.leakage_w["dsp"] == pytest.approx(turbo.leakage_w["dsp"] * 0.88)
    assert nominal.ddr_j == turbo.ddr_j


def test_a_corner_without_a_clock_of_its_own_needs_no_more_voltage() -> None:
    chip = chips.load("sd835")
    assert chip.dsp.clocks_hz.turbo_l1 == chip.dsp.clocks_hz.turbo
    assert rates(chip, "turbo_l1") == rates(chip, "turbo")


def test_a_newer_process_spends_less_except_in_ddr() -> None:
    older, newer = rates(chips.load("sd820"), "turbo")[0], rates(chips.load("sd855"), "turbo")[0]
    assert newer.vector_packet_j < older.vector_packet_j
    assert newer.ddr_j == older.ddr_j


def test_ends_enclose_what_is_stated() -> None:
    for name in chips.names():
        typical, low, high = rates(chips.load(name), "nominal_plus")
        assert low.vector_packet_j < typical.vector_packet_j < high.vector_packet_j
        assert low.cpu_core_w < typical.cpu_core_w < high.cpu_core_w


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
