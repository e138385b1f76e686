"""What a file of energy constants states: joules and watts, for one process of silicon.

They are apart from the chips because time does not depend on them: neither a calibration nor an
interval of a time ever looks at one. Joules and watts hold at the voltage of the turbo corner;
`process_scale` times them is what a chip of the process spends.

Left out: temperature, and differences between samples of one chip.
"""

from __future__ import annotations

from typing import Annotated

from pydantic import NonNegativeFloat

from hexsim.datasheets.chips.chip import Corner
from hexsim.datasheets.datasheet import Datasheet, DatasheetTable
from hexsim.datasheets.quantity import Ratio, Unit

JoulesPerPacket = Annotated[NonNegativeFloat, Unit("J/packet")]
JoulesPerMac = Annotated[NonNegativeFloat, Unit("J/MAC")]
JoulesPerByte = Annotated[NonNegativeFloat, Unit("J/B")]
Joules = Annotated[NonNegativeFloat, Unit("J")]
Watts = Annotated[NonNegativeFloat, Unit("W")]


class Voltage(DatasheetTable):
    """Supply voltage at each corner over that of turbo."""

    turbo_l1: Ratio
    turbo: Ratio
    nominal_plus: Ratio
    svs: Ratio

    def at(self, corner: Corner) -> float:
        """Return the ratio at a corner."""
        return float(getattr(self, corner))


class DspEnergy(DatasheetTable):
    """The Hexagon with its vector unit; `clock_tree_w` is spent at the clock of turbo."""

    vector_packet_j: JoulesPerPacket
    scalar_packet_j: JoulesPerPacket
    mac_j: JoulesPerMac
    l2_j: JoulesPerByte
    vtcm_j: JoulesPerByte
    leakage_w: Watts
    clock_tree_w: Watts


class HtaEnergy(DatasheetTable):
    """The tensor engine; its local memory is in `mac_j`, for its bytes are not counted."""

    mac_j: JoulesPerMac
    leakage_w: Watts
    clock_tree_w: Watts


class HtpEnergy(DatasheetTable):
    """The tensor processor, HMX and HVX; `mac_j` is of codes and of half floats alike."""

    mac_j: JoulesPerMac
    vtcm_j: JoulesPerByte
    leakage_w: Watts
    clock_tree_w: Watts


class IslandEnergy(DatasheetTable):
    """The low-power island; `retention_w` keeps its memory while it sleeps, `wake_j` wakes it."""

    scalar_packet_j: JoulesPerPacket
    mac_j: JoulesPerMac
    local_j: JoulesPerByte
    leakage_w: Watts
    clock_tree_w: Watts
    retention_w: Watts
    wake_j: Joules


class IdleEnergy(DatasheetTable):
    """What flows while nobody computes, and what waking takes beside the time it takes.

    `dsp_asleep_w` is what is left of a DSP without power. DDR takes `ddr_standby_w` while somebody
    may reach it, beside its bytes, and `ddr_self_refresh_w` while nobody can.
    """

    dsp_asleep_w: Watts
    dsp_wake_j: Joules
    ddr_standby_w: Watts
    ddr_self_refresh_w: Watts


class HostEnergy(DatasheetTable):
    """What runs beside the DSP, as power while it works."""

    cpu_core_w: Watts
    gpu_w: Watts


class DdrEnergy(DatasheetTable):
    """Memory chips, their interface and controller; of a process of their own."""

    byte_j: JoulesPerByte


class EnergySheet(Datasheet):
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

    def at_low(self) -> EnergySheet:
        """Return the same with every constant at its lower bound."""
        return self.at_end("low")

    def at_high(self) -> EnergySheet:
        """Return the same with every constant at its upper bound."""
        return self.at_end("high")
