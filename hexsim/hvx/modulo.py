"""Schedules loops into packets by iterative modulo scheduling (Rau 1994).

The body is issued every `interval` packet slots, so that iterations overlap as far as dependences
require. The search starts at the lower bound of the interval and takes the first that works.

Registers are renamed by unrolling (modulo variable expansion), and a schedule is valid only if its
values fit the registers (registers.py). Assumed: only the addresses of loads and stores order them.
"""

from collections.abc import Collection, Iterator
from functools import cached_property, lru_cache
from heapq import heappop, heappush
from random import Random

from hexsim.errors import HexsimError
from hexsim.hvx.dependences import DependenceGraph, graph
from hexsim.hvx.isa import HvxMachine
from hexsim.hvx.packets import Insn, Packet, ReservationTable, resource_bound
from hexsim.hvx.registers import allocate
from hexsim.hvx.scheduling import heights, sink, sources
from hexsim.records import dataclass

TRIES_PER_NODE = 12  # placements per node before an interval is given up
SHUFFLES = 4  # further searches, with priorities changed at random by up to BLUR packets
BLUR = 2
INTERVALS = 64  # intervals tried above the bound


@dataclass(frozen=True)
class Loop:
    """A scheduled loop body.

    times: issue slot of every instruction in the flat schedule of one iteration. interval: packet
    slots from one iteration to the next. bound: the least interval for slots, pipes and ports.
    """

    machine: HvxMachine
    insns: tuple[Insn, ...]
    times: tuple[int, ...]
    interval: int
    bound: int

    @cached_property
    def packets(self) -> tuple[Packet, ...]:
        """The packets of the steady loop; an instruction of a later stage serves an earlier
        iteration."""
        rows: list[list[Insn]] = [[] for _ in range(self.interval)]
        for insn, time in zip(self.insns, self.times, strict=True):
            rows[time % self.interval].append(insn)
        return tuple(Packet(tuple(row)) for row in rows if row)

    @property
    def stalls(self) -> int:
        """Slots per iteration without an instruction."""
        return self.interval - len(self.packets)

    @property
    def stages(self) -> int:
        """Number of iterations that overlap."""
        return max(self.times) // self.interval + 1


@lru_cache(maxsize=4096)
def modulo(machine: HvxMachine, insns: tuple[Insn, ...]) -> Loop:
    """Schedule a loop body; equal streams are scheduled once."""
    g = graph(machine, insns, loop=True)
    bound = max(1, resource_bound(machine, insns))
    for interval in range(bound, bound + INTERVALS):
        for start in _at_interval(machine, g, interval):
            sink(machine, g, start, interval)
            first = min(start)
            times = [0] * len(insns)
            for n, node in enumerate(g.nodes):
                for i in node:
                    times[i] = start[n] - first
            if allocate(machine, insns, times, interval) is not None:
                return Loop(machine, insns, tuple(times), interval, bound)
    raise HexsimError(
        f"stream of {len(insns)} instructions: no loop schedule within {INTERVALS} slots of its "
        f"bound {bound}; it has too many values at once, or one that depends on itself"
    )


def _at_interval(machine: HvxMachine, g: DependenceGraph, interval: int) -> Iterator[list[int]]:
    """Yield start slots of all nodes, one list for each search that succeeds."""
    height = heights(g, interval)
    if height is None:
        return
    count = len(g.nodes)
    incoming: list[list[tuple[int, int]]] = [[] for _ in range(count)]
    outgoing: list[list[tuple[int, int]]] = [[] for _ in range(count)]
    for e in g.edges:
        if e.of != e.to:
            wait = e.packets - interval * e.distance
            incoming[e.to].append((e.of, wait))
            outgoing[e.of].append((e.to, wait))
    by_height = sorted(range(count), key=lambda n: (-height[n], n))
    for order in (by_height, list(range(count))):  # or in the order of the stream
        start = _search(machine, g, interval, order, incoming, outgoing)
        if start is not None:
            yield start
    feeds = set(sources(g))  # loads last, each just before its first reader
    order = [n for n in by_height if n not in feeds] + [n for n in by_height if n in feeds]
    start = _search(machine, g, interval, order, incoming, outgoing, feeds)
    if start is not None:
        yield start
    for seed in range(SHUFFLES):
        generator = Random(seed)
        blurred = {n: height[n] + BLUR * generator.random() for n in range(count)}
        order = sorted(range(count), key=blurred.__getitem__, reverse=True)
        start = _search(machine, g, interval, order, incoming, outgoing)
        if start is not None:
            yield start


def _search(
    machine: HvxMachine,
    g: DependenceGraph,
    interval: int,
    order: list[int],
    incoming: list[list[tuple[int, int]]],
    outgoing: list[list[tuple[int, int]]],
    late: Collection[int] = (),
) -> list[int] | None:
    """Place the most urgent node first, `late` ones as late as possible; nodes that conflict with a
    placed node are placed again."""
    count = len(order)
    rank = {n: k for k, n in enumerate(order)}
    todo = list(range(count))  # ranks, as a heap
    start: dict[int, int] = {}
    last = [-interval] * count
    table = ReservationTable(machine, interval)
    for _ in range(TRIES_PER_NODE * count):
        if not todo:
            return [start[n] for n in range(count)]
        n = order[heappop(todo)]
        after = [start[p] + w for p, w in incoming[n] if p in start]
        until = [start[m] - w for m, w in outgoing[n] if m in start] if n in late else []
        earliest = max(after) if after else min(until, default=interval - 1) - interval + 1
        slots = range(earliest, earliest + interval)
        if until:
            slots = range(min(until), max(earliest, min(until) - interval + 1) - 1, -1)
        slot = table.first(slots, g.classes[n])
        if slot is None:
            slot = max(earliest, last[n] + 1)
            if not ReservationTable(machine, interval).has_room(slot, g.classes[n]):
                return None
            length = len(g.classes[n])
            conflicting = [
                m
                for m, at in start.items()
                if (at - slot) % interval < length or (slot - at) % interval < len(g.classes[m])
            ]
            for other in sorted(conflicting, key=rank.__getitem__, reverse=True):
                if table.has_room(slot, g.classes[n]):
                    break
                table.remove(start.pop(other), g.classes[other])
                heappush(todo, rank[other])
        table.add(slot, g.classes[n])
        start[n] = last[n] = slot
        for m in [m for m, w in outgoing[n] if m in start and start[m] < slot + w]:
            table.remove(start.pop(m), g.classes[m])
            heappush(todo, rank[m])
    return None
