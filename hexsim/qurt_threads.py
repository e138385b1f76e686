"""QuRT: prioritised software threads on the hardware threads of a Q6 core.

The core has a few hardware threads, grouped in clusters. QuRT runs the ready threads of the highest
priorities on them (`qurt.placement`); a thread without a hardware thread makes no progress. A
hardware thread that changes to another thread pauses for a context switch first. An interrupt
handler is a ready thread of the highest priority.

How often a running thread may issue is in `qurt.issue`. Loops whose vector multiplies take operands
from scalar loads sometimes wait for memory; `scalar_fed_stall` lengthens their packets. Slots that
a schedule leaves empty are not lengthened, because the wait for memory ends during them. Threads
that together need more than the capacity of the L2 port or the scalar multipliers share them
(`qurt.contention`). Vector work needs a context, which its thread locks (`qurt.vector_contexts`).

Left out: issue slots that a context switch takes from other threads (here it only pauses its own
hardware thread), affinity masks, priority inheritance, caches below L2.

Sources: Hexagon DSP User Guide 80-VB419-108 pages 10, 30-33; QuRT User Guide 80-VB419-178.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from hexsim.qurt.contention import SharedUnit, contended
from hexsim.qurt.issue import IssueRule
from hexsim.qurt.placement import HardwareThreads
from hexsim.qurt.software import INTERRUPT_PRIORITY, LOWEST_PRIORITY, SoftwareThread
from hexsim.qurt.vector_contexts import VectorContexts
from hexsim.timing.fluid import SharedRate, Sojourn
from hexsim.timing.simtime import Environment
from hexsim.timing.work import WorkItem

__all__ = [
    "INTERRUPT_PRIORITY",
    "LOWEST_PRIORITY",
    "IssueRule",
    "Q6Core",
    "SoftwareThread",
    "ThreadDemand",
    "VectorContexts",
]


@dataclass(frozen=True, slots=True)
class ThreadDemand:
    """What a ready thread needs for each of its issue slots."""

    thread: SoftwareThread
    vector: bool
    l2_bytes_per_slot: float
    multiplies_per_slot: float


class Q6Core(SharedRate[ThreadDemand]):
    """The hardware threads of one DSP, shared by all software threads that are ready."""

    def __init__(self, env: Environment, rule: IssueRule) -> None:
        super().__init__(env)
        self.rule = rule
        self._packets_per_ps = rule.clocks_per_ps / rule.slot_clocks
        self._hardware = HardwareThreads(rule.hardware_threads, rule.clusters)
        self._switched_ps = [0] * rule.hardware_threads
        """Time at which each hardware thread ends, or ended, its last context switch."""
        self.on_placement: Callable[[Sequence[SoftwareThread | None]], None] | None = None
        """Called with the thread on each hardware thread after each placement."""

    def run(
        self, thread: SoftwareThread, item: WorkItem, lead_packets: float = 0.0
    ) -> Sojourn[ThreadDemand]:
        """Make `thread` ready with the packets of `item`; succeeds when they have issued.

        `lead_packets` are issued in addition, to take the item from a queue.
        """
        slots = self._slots(item) + lead_packets
        share = 1 / slots if slots else 0.0
        demand = ThreadDemand(
            thread, item.vector, item.l2_bytes * share, item.scalar_multiplies * share
        )
        return self.use(slots, demand)

    def vector_item(self, clocks: float) -> WorkItem:
        """Return vector work of `clocks` on one thread."""
        return WorkItem(round(clocks / self.rule.slot_clocks))

    def scalar_item(self, clocks: float) -> WorkItem:
        """Return scalar work of `clocks` on a thread whose cluster is otherwise idle."""
        packets = clocks * self.rule.lone_speedup / self.rule.slot_clocks
        return WorkItem(round(packets), vector=False)

    def stall_slots(self, item: WorkItem) -> float:
        """Return the issue slots of an item that stay empty, waiting for results or memory."""
        return item.stalls + item.scalar_fed * (self.rule.scalar_fed_stall - 1)

    def packets_in(self, duration_ps: int) -> float:
        """Return the packets that one hardware thread can issue in a duration."""
        return duration_ps * self._packets_per_ps

    def issue_ps(self, item: WorkItem, lead_packets: float = 0.0) -> float:
        """Return the picoseconds to issue an item if only the issue rule limits it."""
        return (self._slots(item) + lead_packets) / self._packets_per_ps

    def _slots(self, item: WorkItem) -> float:
        """Return the issue slots of an item: packets and stalls."""
        return item.packets + self.stall_slots(item)

    def _rates(self, demands: Sequence[ThreadDemand]) -> Sequence[float]:
        for place in self._hardware.place([demand.thread for demand in demands]):
            self._switch(place)
        if self.on_placement is not None:
            self.on_placement(self._hardware.running)
        places = {thread: k for k, thread in enumerate(self._hardware.running) if thread}
        rates = [self._issue_rate(demand, places.get(demand.thread)) for demand in demands]
        units = self._units(demands, places)
        return contended(rates, units) if units else rates

    def _switch(self, place: int) -> None:
        """Let a hardware thread pause for a context switch."""
        pause_ps = round(self.rule.switch_clocks / self.rule.clocks_per_ps)
        self._switched_ps[place] = self.env.now + pause_ps
        if pause_ps:
            self._share_after(pause_ps)

    def _issue_rate(self, demand: ThreadDemand, place: int | None) -> float:
        if place is None or self._switched_ps[place] > self.env.now:
            return 0.0
        is_lone_scalar = not demand.vector and self._hardware.is_alone(place)
        return self._packets_per_ps * (self.rule.lone_speedup if is_lone_scalar else 1.0)

    def _units(
        self, demands: Sequence[ThreadDemand], places: dict[SoftwareThread, int]
    ) -> list[SharedUnit]:
        """Return the shared units that these demands use."""
        rule, units = self.rule, []
        if any(demand.l2_bytes_per_slot for demand in demands):
            port = rule.l2_bytes_per_clock * rule.clocks_per_ps
            units.append(SharedUnit(port, [demand.l2_bytes_per_slot for demand in demands]))
        if any(demand.multiplies_per_slot for demand in demands):
            pools = 1 if rule.scalar_multipliers_shared else rule.clusters
            multipliers = rule.scalar_multipliers / pools * rule.clocks_per_ps
            for pool in range(pools):
                needs = [
                    demand.multiplies_per_slot * (places.get(demand.thread, 0) % pools == pool)
                    for demand in demands
                ]
                units.append(SharedUnit(multipliers, needs))
        return units
