"""What a file states of a low-power island: the small Hexagon that stays awake for sensors.

It has scalar threads, clocks and a memory of its own, and neither vector unit nor DDR: while it
works alone DDR refreshes itself. What software takes is stated as packets, so that the lower end
of each is the cheaper one. Islands are apart from the chips because no inference outside of
`hexsim always-on` looks at one. Its joules and watts are among the energies.

Left out: caches and bank conflicts, streams of real instructions, the sensors themselves.
"""

from __future__ import annotations

from typing import Annotated

from pydantic import NonNegativeFloat

from hexsim.datasheets.chips.chip import ClockTable, Corner
from hexsim.datasheets.datasheet import Datasheet
from hexsim.datasheets.quantity import Bytes, ClocksPerPacket, Count, Packets, Seconds, Unit

PacketsPerMac = Annotated[NonNegativeFloat, Unit("packet/MAC")]
PacketsPerElement = Annotated[NonNegativeFloat, Unit("packet/element")]

_COSTS = ("wake_s", "packets_per_")


class Island(Datasheet):
    """One kind of island, and the `chips` that have it.

    `software_bytes` of the `memory_bytes` are the system's own. A layer takes packets for each
    multiply-accumulate (dense, or with a filter of its own for each channel), for each element of
    its results, and once.
    """

    chips: tuple[str, ...]
    hardware_threads: Count
    issue_clk_per_packet: ClocksPerPacket
    memory_bytes: Bytes
    software_bytes: Bytes
    wake_s: Seconds
    packets_per_mac: PacketsPerMac
    packets_per_depthwise_mac: PacketsPerMac
    packets_per_element: PacketsPerElement
    packets_per_layer: Packets
    clocks_hz: ClockTable

    @property
    def free_bytes(self) -> int:
        """What a network and the clients of sensors may have of the memory."""
        return self.memory_bytes - self.software_bytes

    def clock_hz(self, corner: Corner) -> float:
        """Return the clock at a voltage corner."""
        return float(getattr(self.clocks_hz, corner))

    def at_low(self) -> Island:
        """Return the same with every cost of software and waking at its lower bound."""
        return self.at_end("low", _COSTS)

    def at_high(self) -> Island:
        """Return the same with every such cost at its upper bound."""
        return self.at_end("high", _COSTS)
