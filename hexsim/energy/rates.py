"""Energy rates of a chip and its low-power island at a corner: joules per count, and watts.

Switching energy is proportional to the square of the voltage, and the power of the clock tree also
to its frequency; leakage is assumed to be proportional to the voltage. CPU, GPU and DDR do not
depend on the corner of the DSP. The tensor processor has the same clock at every corner.

The island scales with process and voltage as the DSP does. Sleeping parts
scale with the process alone, and DDR does not scale.
"""

from typing import Literal, get_args

from hexsim.datasheets.chips import Chip, ClockTable, Corner
from hexsim.datasheets.energies import EnergyDatasheet, datasheets_of
from hexsim.datasheets.islands import Island
from hexsim.records import dataclass

Domain = Literal["dsp", "hta", "htp"]
"""A part with its own leakage and clock tree."""


@dataclass(frozen=True)
class Rates:
    """Joules per packet, MAC and byte; watts by domain and of the host."""

    vector_packet_j: float
    scalar_packet_j: float
    hvx_mac_j: float
    hta_mac_j: float
    htp_mac_j: float
    l2_j: float
    vtcm_j: float
    htp_vtcm_j: float
    ddr_j: float
    leakage_w: dict[Domain, float]
    clock_tree_w: dict[Domain, float]
    cpu_core_w: float
    gpu_w: float


def rates(chip: Chip, corner: Corner) -> tuple[Rates, Rates, Rates]:
    """Return the rates with constants as stated, at their lower ends, and at their upper ends."""
    typical, low, high = (_rates(datasheet, chip, corner) for datasheet in datasheets_of(chip))
    return typical, low, high


def _rates(datasheet: EnergyDatasheet, chip: Chip, corner: Corner) -> Rates:
    volts = datasheet.voltage.at(_lowest_equal_corner(chip, corner))
    scale = datasheet.process_scale
    switching = scale * volts**2
    dsp, hta, htp, host = datasheet.dsp, datasheet.hta, datasheet.htp, datasheet.host
    clocks = {
        "dsp": _clock_share(chip.dsp_table.clocks_hz if chip.dsp_table else None, corner),
        "hta": _clock_share(chip.hta_table.clocks_hz if chip.hta_table else None, corner),
    }
    return Rates(
        vector_packet_j=dsp.vector_packet_j * switching,
        scalar_packet_j=dsp.scalar_packet_j * switching,
        hvx_mac_j=dsp.mac_j * switching,
        hta_mac_j=hta.mac_j * switching,
        htp_mac_j=htp.mac_j * switching,
        l2_j=dsp.l2_j * switching,
        vtcm_j=dsp.vtcm_j * switching,
        htp_vtcm_j=htp.vtcm_j * switching,
        ddr_j=datasheet.ddr.byte_j,
        leakage_w={
            "dsp": dsp.leakage_w * scale * volts,
            "hta": hta.leakage_w * scale * volts,
            "htp": htp.leakage_w * scale * volts,
        },
        clock_tree_w={
            "dsp": dsp.clock_tree_w * switching * clocks["dsp"],
            "hta": hta.clock_tree_w * switching * clocks["hta"],
            "htp": htp.clock_tree_w * switching,
        },
        cpu_core_w=host.cpu_core_w * scale,
        gpu_w=host.gpu_w * scale,
    )


def _lowest_equal_corner(chip: Chip, corner: Corner) -> Corner:
    """Return the lowest corner of the same clock; without turbo_l1 a chip states that of turbo."""
    if chip.dsp_table is None:
        return corner
    clock_hz = chip.dsp_table.clock_hz
    corners: tuple[Corner, ...] = get_args(Corner)
    return [name for name in corners if clock_hz(name) == clock_hz(corner)][-1]


def _clock_share(clocks: ClockTable | None, corner: Corner) -> float:
    """Return the clock at a corner divided by that at turbo; 0 if the chip lacks the part."""
    return float(getattr(clocks, corner)) / clocks.turbo if clocks else 0.0


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
