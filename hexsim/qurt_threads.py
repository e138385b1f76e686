"""QuRT: prioritised software threads on the hardware threads of a Q6 core.

The core has a few hardware threads, grouped in clusters. QuRT runs the ready threads of the highest
priorities on them (`HardwareThreads`); a thread without a hardware thread makes no progress. A
hardware thread that changes to another thread pauses for a context switch first. An interrupt
handler is a ready thread of the highest priority.

How often a running thread may issue is in `IssueRule`. Loops whose vector multiplies take operands
from scalar loads sometimes wait for memory; `scalar_fed_stall` lengthens their packets. Slots that
a schedule leaves empty are not lengthened, because the wait for memory ends during them. Threads
that together need more than the capacity of the L2 port or the scalar multipliers share them
(`contended`). Vector work needs a context, which its thread locks (`VectorContexts`).

Left out: issue slots that a context switch takes from other threads (here it only pauses its own
hardware thread), affinity masks, priority inheritance, caches below L2.

Sources: Hexagon DSP User Guide 80-VB419-108 pages 10, 30-33; QuRT User Guide 80-VB419-178.
"""

from collections.abc import Callable, Sequence
from functools import cached_property
from typing import NamedTuple

import simpy

from hexsim.datasheets.chips import Multithreading
from hexsim.records import dataclass
from hexsim.timing.fluid import SharedRate, Sojourn, max_min
from hexsim.timing.picoseconds import PS_PER_SECOND
from hexsim.timing.simtime import Environment
from hexsim.timing.work import WorkItem

INTERRUPT_PRIORITY = 0
"""Interrupt handlers preempt every thread."""


@dataclass(frozen=True, eq=False)
class SoftwareThread:
    """A QuRT thread: its name and priority, 0 highest. Two threads are never equal."""

    name: str
    priority: int


class HardwareThreads:
    """Which software thread runs on which hardware thread; thread k is of cluster k mod `clusters`.

    1. The ready threads of the highest priorities run; among equals, those that became ready first.
    2. A running thread stays where it is until a more urgent one needs its place.
    3. A thread runs on the hardware thread that still holds its registers, otherwise on a free one
       in the cluster with the fewest running threads; among these, on the one that is idle longest.
       This is assumed, because QuRT's choice is not published.
    4. If none is free, the least urgent running thread is preempted. The interrupt steering of the
       hardware makes the same choice (inferred), so an interrupt handler needs no special case.
    5. A hardware thread that holds another thread's registers has to switch first.

    Source: QuRT User Guide 80-VB419-178, section 4.
    """

    def __init__(self, count: int, clusters: int) -> None:
        self.clusters = [place % clusters for place in range(count)]
        self.running: list[SoftwareThread | None] = [None] * count
        self.places: dict[SoftwareThread, int] = {}
        self._busy = [0] * clusters
        self._registers: list[SoftwareThread | None] = [None] * count
        self._freed = [0] * count
        self._changes = 0

    def place(self, ready: Sequence[SoftwareThread]) -> list[int]:
        """Place `ready`, in the order they became so; return hardware threads that switch."""
        if self.places.keys() == set(ready):
            return []
        chosen = sorted(ready, key=lambda thread: thread.priority)[: len(self.running)]
        self._changes += 1
        for thread in self.places.keys() - set(chosen):
            self._free(thread)
        switching = []
        for thread in chosen:
            if thread in self.places:
                continue
            place = self._best(thread)
            if self._registers[place] not in (None, thread):
                switching.append(place)
            self.running[place] = self._registers[place] = thread
            self.places[thread] = place
            self._busy[self.clusters[place]] += 1
        return switching

    def _free(self, thread: SoftwareThread) -> None:
        """Take a thread from its hardware thread."""
        place = self.places.pop(thread)
        self.running[place] = None
        self._busy[self.clusters[place]] -= 1
        self._freed[place] = self._changes

    def is_alone(self, place: int) -> bool:
        """Tell whether the other hardware threads of the same cluster are idle."""
        return self._busy[self.clusters[place]] == 1

    def _best(self, thread: SoftwareThread) -> int:
        """Return the free hardware thread that rule 3 chooses."""
        free = [place for place, occupant in enumerate(self.running) if occupant is None]
        own = [place for place in free if self._registers[place] is thread]
        return own[0] if len(own) == 1 else min(own or free, key=self._preference)

    def _preference(self, place: int) -> tuple[int, int, int]:
        return self._busy[self.clusters[place]], self._freed[place], place


_ROUNDS = 50
"""Limit of the iterations, in case rounding prevents convergence; a few are usually enough."""


class SharedUnit(NamedTuple):
    """`capacity` is in units per picosecond, `needs` in units per slot of each user."""

    capacity: float
    needs: Sequence[float]

    def limits(self, wishes: Sequence[float]) -> list[float] | None:
        """Return the rates that the unit allows for `wishes`; None if it does not limit them."""
        demands = [wish * need for wish, need in zip(wishes, self.needs, strict=True)]
        if sum(demands) <= self.capacity:
            return None
        granted = max_min(self.capacity, demands)
        level = max(granted)
        return [level / need if need else float("inf") for need in self.needs]


def contended(rates: Sequence[float], units: Sequence[SharedUnit]) -> Sequence[float]:
    """Return `rates` (slots per picosecond) as far as the shared `units` allow them.

    A unit is the L2 port or a pool of scalar multipliers, shared max-min fairly. So it has a level:
    users that demand less than the level get their demand, all others get the level. A user of
    several units progresses at the lowest of its rates, and demands no more of the other units than
    this rate needs. The levels of units that share users depend on each other and are found by
    iteration.
    """
    if len(units) == 1:  # the usual case
        alone = units[0].limits(rates)
        return rates if alone is None else _lowest(rates, [alone])
    limits: dict[int, list[float]] = {}
    settled = rates
    for _ in range(_ROUNDS):
        before = settled
        for number, unit in enumerate(units):
            other_limits = [limit for key, limit in limits.items() if key != number]
            limits.pop(number, None)
            new_limits = unit.limits(_lowest(rates, other_limits))
            if new_limits is not None:
                limits[number] = new_limits
        settled = _lowest(rates, list(limits.values()))
        if len(limits) <= 1 or all(
            abs(new - old) <= 1e-9 * old for new, old in zip(settled, before, strict=True)
        ):
            break
    return settled


def _lowest(rates: Sequence[float], limits: Sequence[Sequence[float]]) -> Sequence[float]:
    return [min(user) for user in zip(rates, *limits, strict=True)] if limits else rates


@dataclass(frozen=True)
class IssueRule:
    """How often a hardware thread may issue a packet, and what threads share, as constants.

    Dynamic multithreading (V5 and later): a thread issues one packet per `clocks_per_packet`
    clocks. A thread whose cluster neighbour is idle uses some of its slots if its work is scalar;
    vector work does not, because the documented vector peak is exactly one packet per two clocks.

    Barrel (before V5): the threads take turns, one packet each per rotation, whether or not the
    others have work. 600 MHz are three threads of 200 MHz.

    A multiplier does one multiplication per clock. `scalar_multipliers` counts those of the whole
    core; unless shared, they are divided among the clusters. `switch_clocks` is the time of a
    context switch of a hardware thread.

    Source: Hexagon DSP User Guide 80-VB419-108 pages 10, 30; Qualcomm's developer pages for the
    barrel.
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


class _Request(simpy.Event):
    """Waits for `count` contexts; succeeds once `holder` has locked them."""

    def __init__(self, env: Environment, holder: str, count: int, priority: int) -> None:
        super().__init__(env)
        self.holder = holder
        self.count = count
        self.priority = priority


class VectorContexts:
    """The HVX contexts of one DSP: threads lock them, and wait for them in the order of priority.

    A request is for one or more contexts at once, so that no two requests can wait for each other.
    The most urgent request is served first, among equals the earliest; no request overtakes a more
    urgent one that still waits for more contexts than are free. A try-lock locks all its contexts
    or none.

    Left out: saving the context of a preempted thread, which QuRT can do from V65 on (Hexagon NN
    locks its contexts on every chip), and the 200 ms time-out of the resource manager.

    Sources: Hexagon SDK 3.5.4, HVX overview and HVX resource manager.
    """

    def __init__(self, env: Environment, count: int) -> None:
        self.count = count
        self._env = env
        self._holders: list[str | None] = [None] * count
        self._waiting: list[_Request] = []
        self.on_change: Callable[[Sequence[str | None]], None] | None = None
        """Called with the holder of each context after every change."""

    def lock(self, holder: str, count: int, priority: int) -> simpy.Event:
        """Lock `count` contexts; the event is already triggered if they were free."""
        request = _Request(self._env, holder, count, priority)
        self._waiting.append(request)
        self._waiting.sort(key=lambda waiting: waiting.priority)
        self._grant()
        return request

    def try_lock(self, holder: str, count: int) -> bool:
        """Lock `count` contexts if they are free now; tell whether they are locked."""
        if count > self._free:
            return False
        self._take(holder, count)
        return True

    def unlock(self, holder: str) -> None:
        """Give back all contexts of a holder."""
        self._holders = [None if current == holder else current for current in self._holders]
        self._changed()
        self._grant()

    @property
    def _free(self) -> int:
        return self._holders.count(None)

    def _grant(self) -> None:
        while self._waiting and self._waiting[0].count <= self._free:
            request = self._waiting.pop(0)
            self._take(request.holder, request.count)
            request.succeed()

    def _take(self, holder: str, count: int) -> None:
        for _ in range(count):
            self._holders[self._holders.index(None)] = holder
        self._changed()

    def _changed(self) -> None:
        if self.on_change is not None:
            self.on_change(self._holders)


class ThreadDemand(NamedTuple):
    """What a ready thread needs: issue slots, and for each of them bytes and multiplications."""

    thread: SoftwareThread
    slots: float
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
        slots = item.packets + self.stall_slots(item) + lead_packets
        share = 1 / slots if slots else 0.0
        demand = ThreadDemand(
            thread, slots, item.vector, item.l2_bytes * share, item.scalar_multiplies * share
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

    def issue_ps(self, demand: ThreadDemand) -> float:
        """Return the picoseconds to issue what a thread needs if only the issue rule limits it."""
        return demand.slots / self._packets_per_ps

    def _rates(self, demands: Sequence[ThreadDemand]) -> Sequence[float]:
        if switching := self._hardware.place([demand.thread for demand in demands]):
            self._switch(switching)
        if self.on_placement is not None:
            self.on_placement(self._hardware.running)
        rates = self._issue_rates(demands)
        units = self._units(demands)
        return contended(rates, units) if units else rates

    def _switch(self, places: Sequence[int]) -> None:
        """Let hardware threads pause for a context switch."""
        pause_ps = round(self.rule.switch_clocks / self.rule.clocks_per_ps)
        for place in places:
            self._switched_ps[place] = self.env.now + pause_ps
        if pause_ps:
            self._share_after(pause_ps)

    def _issue_rates(self, demands: Sequence[ThreadDemand]) -> list[float]:
        """Return the packets per picosecond of each thread if no unit limits them."""
        places, now, full = self._hardware.places, self.env.now, self._packets_per_ps
        rates = []
        for demand in demands:
            place = places.get(demand.thread)
            if place is None or self._switched_ps[place] > now:
                rates.append(0.0)
            elif demand.vector or not self._hardware.is_alone(place):
                rates.append(full)
            else:
                rates.append(full * self.rule.lone_speedup)
        return rates

    def _units(self, demands: Sequence[ThreadDemand]) -> list[SharedUnit]:
        """Return the shared units that these demands use."""
        rule, units = self.rule, []
        l2_bytes = [demand.l2_bytes_per_slot for demand in demands]
        if any(l2_bytes):
            units.append(SharedUnit(rule.l2_bytes_per_clock * rule.clocks_per_ps, l2_bytes))
        multiplies = [demand.multiplies_per_slot for demand in demands]
        if any(multiplies):
            pools = 1 if rule.scalar_multipliers_shared else rule.clusters
            multipliers = rule.scalar_multipliers / pools * rule.clocks_per_ps
            places = [self._hardware.places.get(demand.thread, 0) for demand in demands]
            for pool in range(pools):
                needs = [
                    need * (place % pools == pool)
                    for need, place in zip(multiplies, places, strict=True)
                ]
                units.append(SharedUnit(multipliers, needs))
        return units
