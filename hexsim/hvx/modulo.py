"""Loops into packets: iterative modulo scheduling (Rau 1994).

The body is issued every `interval` packet slots, iterations overlapping as far as dependences
demand. The smallest interval from the bounds upwards that the search finds is taken.

Assumed: registers are renamed by unrolling (modulo variable expansion, see registers.py), loads
need no other order than their addresses give.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property, lru_cache

from hexsim.errors import HexsimError
from hexsim.hvx.dependences import Graph, graph
from hexsim.hvx.isa import Machine
from hexsim.hvx.packets import Insn, Packet, resource_bound, split
from hexsim.hvx.scheduling import Table, heights

TRIES_PER_NODE = 12  # placements per node before an interval is given up
INTERVALS = 64  # intervals tried above the bound


@dataclass(frozen=True)
class Loop:
    """A scheduled loop body.

    times: issue slot of every instruction in the flat schedule of one iteration. interval: packet
    slots from one iteration to the next. bound: slots that slots, pipes and ports need at least.
    """

    machine: Machine
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
        """Slots per iteration in which nothing is issued."""
        return self.interval - len(self.packets)

    @property
    def stages(self) -> int:
        """Iterations in flight at once."""
        return max(self.times) // self.interval + 1


@lru_cache(maxsize=4096)
def modulo(machine: Machine, insns: tuple[Insn, ...]) -> Loop:
    """Schedule a loop body; equal streams are scheduled once."""
    g = graph(machine, insns, loop=True)
    bound = max(1, resource_bound(machine, insns))
    for interval in range(bound, bound + INTERVALS):
        start = _at_interval(machine, g, interval)
        if start is not None:
            _sink(machine, g, interval, start)
            first = min(start)
            times = [0] * len(insns)
            for n, node in enumerate(g.nodes):
                for i in node:
                    times[i] = start[n] - first
            return Loop(machine, insns, tuple(times), interval, bound)
    raise HexsimError(
        f"stream of {len(insns)} instructions: no loop schedule within {INTERVALS} slots of its "
        f"bound {bound}; check it for a value that depends on itself through a long chain"
    )


def _at_interval(machine: Machine, g: Graph, interval: int) -> list[int] | None:
    """Start slot of every node, or None if the search finds none."""
    height = _cyclic_heights(g, interval)
    if height is None:
        return None
    count = len(g.nodes)
    incoming: list[list[tuple[int, int]]] = [[] for _ in range(count)]
    outgoing: list[list[tuple[int, int]]] = [[] for _ in range(count)]
    for e in g.edges:
        if e.of != e.to:
            wait = e.packets - interval * e.distance
            incoming[e.to].append((e.of, wait))
            outgoing[e.of].append((e.to, wait))
    by_height = sorted(range(count), key=lambda n: (-height[n], n))
    for order in (by_height, list(range(count))):  # else in the order of the stream
        start = _search(machine, g, interval, order, incoming, outgoing)
        if start is not None:
            return start
    return None


def _search(
    machine: Machine,
    g: Graph,
    interval: int,
    order: list[int],
    incoming: list[list[tuple[int, int]]],
    outgoing: list[list[tuple[int, int]]],
) -> list[int] | None:
    """Place the most urgent node first; what stands in its way is placed again later."""
    count = len(order)
    rank = {n: k for k, n in enumerate(order)}
    todo = set(range(count))
    start: dict[int, int] = {}
    last = [-1] * count
    table = Table(machine, interval)
    for _ in range(TRIES_PER_NODE * count):
        if not todo:
            return [start[n] for n in range(count)]
        n = min(todo, key=rank.__getitem__)
        earliest = max([0] + [start[p] + w for p, w in incoming[n] if p in start])
        slots = range(earliest, earliest + interval)
        slot = next((s for s in slots if table.has_room(s, g.classes[n])), None)
        if slot is None:
            slot = max(earliest, last[n] + 1)
            if not Table(machine, interval).has_room(slot, g.classes[n]):
                return None
            for other in sorted(start, key=rank.__getitem__, reverse=True):
                if table.has_room(slot, g.classes[n]):
                    break
                if _meet(start[other], g.classes[other], slot, g.classes[n], interval):
                    table.remove(start.pop(other), g.classes[other])
                    todo.add(other)
        table.add(slot, g.classes[n])
        start[n] = last[n] = slot
        todo.discard(n)
        late = [m for m, w in outgoing[n] if m in start and start[m] < slot + w]
        for m in late:
            table.remove(start.pop(m), g.classes[m])
            todo.add(m)
    return None


def _sink(machine: Machine, g: Graph, interval: int, start: list[int]) -> None:
    """Move loads and what they alone feed as late as their readers allow: fewer live values."""
    made = {split(i.dst)[0] for i in g.insns if i.dst}
    table = Table(machine, interval)
    for n, slot in enumerate(start):
        table.add(slot, g.classes[n])
    for n in sorted(range(len(start)), key=lambda n: -start[n]):
        sources = {split(v)[0] for i in g.nodes[n] for v in g.insns[i].src} & made
        waits = [
            start[e.to] - e.packets + interval * e.distance
            for e in g.edges
            if e.of == n and e.to != n
        ]
        if len(sources) > 1 or not waits:
            continue
        table.remove(start[n], g.classes[n])
        start[n] = next(
            s for s in range(min(waits), start[n] - 1, -1) if table.has_room(s, g.classes[n])
        )
        table.add(start[n], g.classes[n])


def _meet(
    a: int,
    a_classes: tuple[tuple[str, ...], ...],
    b: int,
    b_classes: tuple[tuple[str, ...], ...],
    interval: int,
) -> bool:
    rows = {(a + k) % interval for k in range(len(a_classes))}
    return any((b + k) % interval in rows for k in range(len(b_classes)))


def _cyclic_heights(g: Graph, interval: int) -> list[int] | None:
    """Longest waits behind each node when iterations start every `interval`; None if a value
    that depends on itself cannot keep that pace."""
    height = heights(g)
    for _ in range(len(g.nodes) + 1):
        changed = False
        for e in g.edges:
            reach = height[e.to] + e.packets - interval * e.distance
            if reach > height[e.of]:
                height[e.of] = reach
                changed = True
        if not changed:
            return height
    return None
