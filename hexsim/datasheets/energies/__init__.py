"""Energy constants of each silicon process, in joules and watts, and the process of each chip.

They are separate from the chips because times, their intervals and the calibration do not depend
on them. Joules and watts are those at the voltage of the turbo corner;
a chip of the process spends `process_scale` times as much.

Left out: temperature, and differences between samples of one chip.
"""

from functools import cache
from pathlib import Path
from typing import Annotated

from hexsim.datasheets.chips import Chip, Corner
from hexsim.datasheets.datasheet import Datasheet, DatasheetTable, Shelf
from hexsim.datasheets.quantity import NotNegative, Ratio, Unit

JoulesPerPacket = Annotated[NotNegative, Unit("J/packet")]
JoulesPerMac = Annotated[NotNegative, Unit("J/MAC")]
JoulesPerByte = Annotated[NotNegative, Unit("J/B")]
Joules = Annotated[NotNegative, Unit("J")]
Watts = Annotated[NotNegative, Unit("W")]


class Voltage(DatasheetTable):
    """Supply voltage at each corner relative to that of turbo."""

    turbo_l1: Ratio
    turbo: Ratio
    nominal_plus: Ratio
    svs: Ratio

    def at(self, corner: Corner) -> float:
        """Return the ratio at a corner."""
        return float(getattr(self, corner))


class DspEnergy(DatasheetTable):
    """The Hexagon with its vector unit; `clock_tree_w` is the power at the clock of turbo."""

    vector_packet_j: JoulesPerPacket
    scalar_packet_j: JoulesPerPacket
    mac_j: JoulesPerMac
    l2_j: JoulesPerByte
    vtcm_j: JoulesPerByte
    leakage_w: Watts
    clock_tree_w: Watts


class HtaEnergy(DatasheetTable):
    """The tensor engine; `mac_j` includes its local memory, whose bytes are not counted."""

    mac_j: JoulesPerMac
    leakage_w: Watts
    clock_tree_w: Watts


class HtpEnergy(DatasheetTable):
    """The tensor processor, HMX and HVX; `mac_j` is that of codes and of float16."""

    mac_j: JoulesPerMac
    vtcm_j: JoulesPerByte
    leakage_w: Watts
    clock_tree_w: Watts


class IslandEnergy(DatasheetTable):
    """The low-power island; `retention_w` retains its memory in sleep, `wake_j` wakes it."""

    scalar_packet_j: JoulesPerPacket
    mac_j: JoulesPerMac
    local_j: JoulesPerByte
    leakage_w: Watts
    clock_tree_w: Watts
    retention_w: Watts
    wake_j: Joules


class IdleEnergy(DatasheetTable):
    """Power of idle parts, and the energy of waking the DSP.

    `dsp_asleep_w` is the remaining power of a power-collapsed DSP. In addition to its bytes DDR
    takes `ddr_standby_w` while it is accessible, and `ddr_self_refresh_w` otherwise.
    """

    dsp_asleep_w: Watts
    dsp_wake_j: Joules
    ddr_standby_w: Watts
    ddr_self_refresh_w: Watts


class HostEnergy(DatasheetTable):
    """Power of CPU cores and GPU while they work."""

    cpu_core_w: Watts
    gpu_w: Watts


class DdrEnergy(DatasheetTable):
    """Memory chips, their interface and controller; they have their own process."""

    byte_j: JoulesPerByte


class EnergyDatasheet(Datasheet):
    """The constants of one process, and the `chips` that are made in it."""

    chips: tuple[str, ...]
    process_scale: Ratio
    voltage: Voltage
    dsp: DspEnergy
    hta: HtaEnergy
    htp: HtpEnergy
    host: HostEnergy
    ddr: DdrEnergy
    island: IslandEnergy
    idle: IdleEnergy


_SHELF = Shelf(EnergyDatasheet, "process", Path(__file__).parent)
names, load = _SHELF.names, _SHELF.load
_UNKNOWN = "unknown-process"


def datasheet_of(chip: Chip) -> EnergyDatasheet:
    """Return the constants of a chip's process; unknown processes have wider bounds."""
    return datasheets_of(chip)[0]


def datasheets_of(chip: Chip) -> tuple[EnergyDatasheet, EnergyDatasheet, EnergyDatasheet]:
    """Return the constants as stated, at their lower ends, and at their upper ends."""
    return _with_ends(_process(chip.name, chip.like))


@cache
def _process(chip: str, like: str) -> str:
    made = ((name, head["chips"]) for name, head in _SHELF.heads())
    return next((name for name, chips in made if chip in chips or like in chips), _UNKNOWN)


@cache
def _with_ends(process: str) -> tuple[EnergyDatasheet, EnergyDatasheet, EnergyDatasheet]:
    """Return a process with its ends; cached, because every point of a sweep needs it."""
    datasheet = load(process)
    return datasheet, datasheet.at_end("low"), datasheet.at_end("high")
