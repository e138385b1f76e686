"""What a file of energy constants states: joules and watts, for one process of silicon.

They are apart from the chips because time does not depend on them: neither a calibration nor an
interval of a time ever looks at one. Joules and watts hold at the voltage of the turbo corner;
`process_scale` times them is what a chip of the process spends.

Left out: temperature, differences between samples of one chip, and the low-power island, which is
to be a table of its own beside [dsp].
"""

from __future__ import annotations

from typing import Annotated

from pydantic import NonNegativeFloat

from hexsim.platforms.chips.chip import Corner
from hexsim.platforms.datasheet import Datasheet, Table
from hexsim.platforms.quantity import Ratio, Unit

JoulesPerPacket = Annotated[NonNegativeFloat, Unit("J/packet")]
JoulesPerMac = Annotated[NonNegativeFloat, Unit("J/MAC")]
JoulesPerByte = Annotated[NonNegativeFloat, Unit("J/B")]
Watts = Annotated[NonNegativeFloat, Unit("W")]


class Voltage(Table):
    """Supply voltage at each corner over that of turbo."""

    turbo_l1: Ratio
    turbo: Ratio
    nominal_plus: Ratio
    svs: Ratio

    def at(self, corner: Corner) -> float:
        """Return the ratio at a corner."""
        return float(getattr(self, corner))


class DspEnergy(Table):
    """The Hexagon with its vector unit; `clock_tree_w` is spent at the clock of turbo."""

    vector_packet_j: JoulesPerPacket
    scalar_packet_j: JoulesPerPacket
    mac_j: JoulesPerMac
    l2_j: JoulesPerByte
    vtcm_j: JoulesPerByte
    leakage_w: Watts
    clock_tree_w: Watts


class HtaEnergy(Table):
    """The tensor engine; its local memory is in `mac_j`, for its bytes are not counted."""

    mac_j: JoulesPerMac
    leakage_w: Watts
    clock_tree_w: Watts


class HostEnergy(Table):
    """What runs beside the DSP, as power while it works."""

    cpu_core_w: Watts
    gpu_w: Watts


class DdrEnergy(Table):
    """Memory chips, their interface and controller; of a process of their own."""

    byte_j: JoulesPerByte


class EnergySheet(Datasheet):
    """The constants of one process, and the `chips` that are made in it."""

    chips: tuple[str, ...]
    process_scale: Ratio
    voltage: Voltage
    dsp: DspEnergy
    hta: HtaEnergy
    host: HostEnergy
    ddr: DdrEnergy

    def at_low(self) -> EnergySheet:
        """Return the same with every constant at its lower bound."""
        return self._at("low")

    def at_high(self) -> EnergySheet:
        """Return the same with every constant at its upper bound."""
        return self._at("high")

    def _at(self, end: str) -> EnergySheet:
        bounds = {}
        for path, constant in self.quantities():
            bound = getattr(constant, end)
            if bound is not None:
                bounds[path] = constant.model_copy(update={"value": bound})
        return self.restated(bounds)
