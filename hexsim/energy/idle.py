"""The energy rates of the low-power island at a corner, and the power of idle parts.

The island scales with process and voltage as the DSP does (hexsim.energy.rates). Sleeping parts
scale with the process alone, and DDR does not scale.
"""

from dataclasses import dataclass

from hexsim.datasheets.chips.chip import Chip, Corner
from hexsim.datasheets.energies import EnergyDatasheet, datasheets_of
from hexsim.datasheets.islands import Island


@dataclass(frozen=True)
class IslandRates:
    """Joules per packet, MAC, byte and wake-up; watts awake and asleep."""

    scalar_packet_j: float
    mac_j: float
    local_j: float
    wake_j: float
    awake_w: float
    retention_w: float


@dataclass(frozen=True)
class IdleRates:
    """Watts of a power-collapsed DSP and of DDR, and joules of waking the DSP."""

    dsp_asleep_w: float
    dsp_wake_j: float
    ddr_standby_w: float
    ddr_self_refresh_w: float


def island_rates(
    chip: Chip, island: Island, corner: Corner
) -> tuple[IslandRates, IslandRates, IslandRates]:
    """Return the rates with constants as stated, at their lower ends, and at their upper ends."""
    typical, low, high = (_island(datasheet, island, corner) for datasheet in datasheets_of(chip))
    return typical, low, high


def idle_rates(chip: Chip) -> tuple[IdleRates, IdleRates, IdleRates]:
    """Return the rates of idle parts, in the same order."""
    typical, low, high = map(_idle, datasheets_of(chip))
    return typical, low, high


def _island(datasheet: EnergyDatasheet, island: Island, corner: Corner) -> IslandRates:
    volts, scale, spent = datasheet.voltage.at(corner), datasheet.process_scale, datasheet.island
    switching = scale * volts**2
    clock = island.clock_hz(corner) / island.clocks_hz.turbo
    return IslandRates(
        scalar_packet_j=spent.scalar_packet_j * switching,
        mac_j=spent.mac_j * switching,
        local_j=spent.local_j * switching,
        wake_j=spent.wake_j * scale,
        awake_w=spent.leakage_w * scale * volts + spent.clock_tree_w * switching * clock,
        retention_w=spent.retention_w * scale,
    )


def _idle(datasheet: EnergyDatasheet) -> IdleRates:
    idle = datasheet.idle
    return IdleRates(
        dsp_asleep_w=idle.dsp_asleep_w * datasheet.process_scale,
        dsp_wake_j=idle.dsp_wake_j * datasheet.process_scale,
        ddr_standby_w=idle.ddr_standby_w,
        ddr_self_refresh_w=idle.ddr_self_refresh_w,
    )
