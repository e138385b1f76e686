"""QuRT: prioritised software threads on the hardware threads of a Q6 core.

The core holds a few hardware threads, grouped in clusters. QuRT keeps the highest-priority ready
threads on them (0 is highest); whoever has no hardware thread stands still. An interrupt handler
is a ready thread of high priority, so it displaces the thread of lowest priority, as the
hardware's interrupt steering does.

Issue rule. A hardware thread issues one packet per `clocks_per_packet` clocks (2 on dynamic
multithreading; the number of threads on a barrel core). A thread whose cluster neighbour is
idle takes some of its slots if its work is scalar; vector work gets no such bonus, because the
documented vector peak is exactly one packet per two clocks. Loops whose vector multiplies take
operands from scalar loads wait for memory now and then; `scalar_fed_stall` stretches their packets.
Slots that a schedule leaves empty are counted as they are: the wait for memory is over in them.
Threads that together ask for more bytes than the L2 port moves share it max-min fairly.

Left out: the scalar multipliers that clusters of older cores share, the cost of a context switch
(no figure is published), caches below L2.

Sources: Hexagon DSP User Guide 80-VB419-108 pages 10, 30, 33; QuRT User Guide 80-VB419-178.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from hexsim.fluid import SharedRate, Use, max_min
from hexsim.simtime import PS_PER_SECOND, Environment
from hexsim.work import WorkItem


@dataclass(frozen=True)
class SoftwareThread:
    """A QuRT thread: its name and priority, 0 highest."""

    name: str
    priority: int


@dataclass(frozen=True)
class IssueRule:
    """How hardware threads issue packets; the L2 port is in bytes per core clock."""

    clock_hz: float
    hardware_threads: int
    clusters: int
    clocks_per_packet: float
    lone_scalar_speedup: float
    scalar_fed_stall: float
    l2_bytes_per_clock: float


@dataclass(frozen=True)
class _Demand:
    thread: SoftwareThread
    vector: bool
    l2_bytes_per_slot: float


class Q6Core(SharedRate[_Demand]):
    """The hardware threads of one DSP, shared by all software threads that are ready."""

    def __init__(self, env: Environment, rule: IssueRule) -> None:
        super().__init__(env)
        self.rule = rule
        self._packets_per_ps = rule.clock_hz / PS_PER_SECOND / rule.clocks_per_packet
        self._l2_bytes_per_ps = rule.clock_hz / PS_PER_SECOND * rule.l2_bytes_per_clock

    def run(self, thread: SoftwareThread, item: WorkItem) -> Use[_Demand]:
        """Make `thread` ready with the packets of `item`; succeeds when they have issued."""
        slots = self._slots(item)
        per_slot = item.l2_bytes / slots if slots else 0.0
        return self.use(slots, _Demand(thread, item.vector, per_slot))

    def vector_item(self, clocks: float) -> WorkItem:
        """Return vector work that takes `clocks` of a thread."""
        return WorkItem(round(clocks / self.rule.clocks_per_packet))

    def scalar_item(self, clocks: float) -> WorkItem:
        """Return scalar work that takes `clocks` of a thread without a neighbour."""
        rule = self.rule
        packets = clocks * rule.lone_scalar_speedup / rule.clocks_per_packet
        return WorkItem(round(packets), vector=False)

    def stall_slots(self, item: WorkItem) -> float:
        """Issue slots of an item in which nothing issues: waits for results and for memory."""
        return item.stalls + item.scalar_fed * (self.rule.scalar_fed_stall - 1)

    def packets_in(self, duration_ps: int) -> float:
        """Packets that one hardware thread can issue in a time."""
        return duration_ps * self._packets_per_ps

    def issue_ps(self, item: WorkItem) -> float:
        """Picoseconds that issuing an item takes if nothing but the issue rule limits it."""
        return self._slots(item) / self._packets_per_ps

    def _slots(self, item: WorkItem) -> float:
        """Issue slots: packets, and those lost to stalls."""
        return item.packets + self.stall_slots(item)

    def _rates(self, demands: Sequence[_Demand]) -> Sequence[float]:
        rule = self.rule
        ready = sorted(range(len(demands)), key=lambda user: demands[user].thread.priority)
        running = ready[: rule.hardware_threads]
        limits = [0.0] * len(demands)
        for place, user in enumerate(running):
            cluster = place % rule.clusters
            neighbours = (len(running) - 1 - cluster) // rule.clusters
            is_lone_scalar = neighbours == 0 and not demands[user].vector
            speedup = rule.lone_scalar_speedup if is_lone_scalar else 1.0
            limits[user] = self._packets_per_ps * speedup
        wanted = [
            limit * demand.l2_bytes_per_slot for limit, demand in zip(limits, demands, strict=True)
        ]
        if sum(wanted) <= self._l2_bytes_per_ps:
            return limits
        granted = max_min(self._l2_bytes_per_ps, wanted)
        return [
            share / demand.l2_bytes_per_slot if demand.l2_bytes_per_slot else limit
            for share, limit, demand in zip(granted, limits, demands, strict=True)
        ]
