"""The low-power islands of chips: the small Hexagon that stays awake for sensors.

It has its own scalar threads, clocks and memory, and neither vector unit nor DDR: while it
works alone DDR refreshes itself. The costs of software are in packets, so that their lower ends
are the cheaper ones. Islands are separate from the chips because only `hexsim always-on` uses
them. Their joules and watts are in the files of energies.

Left out: caches and bank conflicts, streams of real instructions, the sensors themselves.
"""

from pathlib import Path
from typing import Annotated, Self

from hexsim.datasheets.chips import Chip, ClockTable, Corner
from hexsim.datasheets.datasheet import Datasheet, Shelf
from hexsim.datasheets.quantity import (
    Bytes,
    ClocksPerPacket,
    Count,
    NotNegative,
    Packets,
    Seconds,
    Unit,
)
from hexsim.errors import HexsimError

PacketsPerMac = Annotated[NotNegative, Unit("packet/MAC")]
PacketsPerElement = Annotated[NotNegative, Unit("packet/element")]

_COSTS = ("wake_s", "packets_per_")


class Island(Datasheet):
    """One kind of island, and the `chips` that have it.

    The system uses `software_bytes` of the `memory_bytes`. A layer takes packets for each
    multiply-accumulate (dense or depthwise), for each element of its results, and once per layer.
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
        """Memory available to a network and the clients of sensors."""
        return self.memory_bytes - self.software_bytes

    def clock_hz(self, corner: Corner) -> float:
        """Return the clock at a voltage corner."""
        return float(getattr(self.clocks_hz, corner))

    def at_low(self) -> Self:
        """Return the island with every cost of software and waking at its lower bound."""
        return self.at_end("low", _COSTS)

    def at_high(self) -> Self:
        """Return the island with every cost of software and waking at its upper bound."""
        return self.at_end("high", _COSTS)


_SHELF = Shelf(Island, "island", Path(__file__).parent)
names, load = _SHELF.names, _SHELF.load


def find(chip: Chip) -> Island | None:
    """Return the island of a chip, or of the chip it is like; None if none is known."""
    islands = map(load, names())
    return next((island for island in islands if {chip.name, chip.like} & {*island.chips}), None)


def island_of(chip: Chip) -> Island:
    """Return the island of a chip; HexsimError if none is known."""
    island = find(chip)
    if island is None:
        known = [name for other in map(load, names()) for name in other.chips]
        raise HexsimError(
            f"no low-power island of chip {chip.name} is known; take one of {', '.join(known)}, "
            "or a chip file that is `like` one of them"
        )
    return island
