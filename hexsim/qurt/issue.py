"""The issue rule: how often the hardware threads of a core may issue a packet.

Dynamic multithreading (V5 and later): a thread issues one packet per `clocks_per_packet` clocks.
A thread whose cluster neighbour is idle uses some of its slots if its work is scalar; vector
work does not, because the documented vector peak is exactly one packet per two clocks.

Barrel (before V5): the threads take turns, one packet each per rotation, whether or not the others
have work. 600 MHz are three threads of 200 MHz.

Source: Hexagon DSP User Guide 80-VB419-108 pages 10, 30; Qualcomm's developer pages for the barrel.
"""

from dataclasses import dataclass
from functools import cached_property

from hexsim.datasheets.chips.chip import Multithreading
from hexsim.timing.simtime import PS_PER_SECOND


@dataclass(frozen=True)
class IssueRule:
    """The constants of one core; a multiplier does one multiplication per clock.

    `scalar_multipliers` counts those of the whole core; unless shared, they are divided among the
    clusters. `switch_clocks` is the time of a context switch of a hardware thread.
    """

    clock_hz: float
    hardware_threads: int
    clusters: int
    multithreading: Multithreading
    clocks_per_packet: float
    lone_scalar_speedup: float
    scalar_fed_stall: float
    l2_bytes_per_clock: float
    scalar_multipliers: int
    scalar_multipliers_shared: bool
    switch_clocks: float

    @cached_property
    def slot_clocks(self) -> float:
        """Clocks between two packets of a thread whose neighbours are busy."""
        return self.hardware_threads if self.multithreading == "barrel" else self.clocks_per_packet

    @cached_property
    def lone_speedup(self) -> float:
        """How much faster scalar work runs beside an idle neighbour; 1 in a barrel."""
        return 1.0 if self.multithreading == "barrel" else self.lone_scalar_speedup

    @cached_property
    def clocks_per_ps(self) -> float:
        """Core clocks in a picosecond."""
        return self.clock_hz / PS_PER_SECOND
