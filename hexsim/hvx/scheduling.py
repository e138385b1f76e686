"""Schedules straight code into packets by list scheduling, longest path first.

Packets issue in order. A slot in which no instruction can issue is a stall, which is counted
separately from packets.
"""

from bisect import bisect, insort
from collections.abc import Iterator, Mapping, Sequence

from hexsim.errors import HexsimError
from hexsim.hvx.dependences import DependenceGraph, Edge, graph
from hexsim.hvx.isa import HvxMachine
from hexsim.hvx.packets import Insn, Packet, ReservationTable, Wants, split
from hexsim.hvx.registers import (
    ALONE,
    FILES,
    PREDICATES,
    SCALARS,
    Edges,
    Live,
    allocate,
    early_registers,
)
from hexsim.records import dataclass, replace

LONGEST_WAIT = 32  # slots, longer than any latency


@dataclass(frozen=True)
class Straight:
    """Straight code: the issue slot of every instruction.

    length: packet slots from the first to the last, stalls included.
    """

    machine: HvxMachine
    insns: tuple[Insn, ...]
    times: tuple[int, ...]
    edges: Edges = ALONE

    @property
    def length(self) -> int:
        """Packet slots, stalls included."""
        return max(self.times, default=-1) + 1

    @property
    def packets(self) -> tuple[Packet, ...]:
        """The packets in order."""
        slots = sorted(set(self.times))
        return tuple(
            Packet(tuple(i for i, t in zip(self.insns, self.times, strict=True) if t == slot))
            for slot in slots
        )

    @property
    def stalls(self) -> int:
        """Slots without an instruction."""
        return self.length - len(set(self.times))


def heights(g: DependenceGraph, interval: int | None = None) -> list[int] | None:
    """Return the packets from the start of each node to the end of the longest chain after it.

    If an iteration starts every `interval`, chains continue in later ones. None if a value that
    depends on itself needs a longer interval.
    """
    height = [0] * len(g.nodes)
    waits = [
        (e.of, e.to, e.packets - (interval or 0) * e.distance)
        for e in reversed(g.edges)  # nearly all lead forwards, so that few passes are needed
        if interval or not e.distance
    ]
    for _ in range(len(g.nodes) + 1):
        changed = False
        for of, to, wait in waits:
            reach = height[to] + wait
            if reach > height[of]:
                height[of] = reach
                changed = True
        if not changed:
            return height
    return None


def sources(g: DependenceGraph) -> list[int]:
    """Return the nodes that need no value of this code: loads, moved constants."""
    written = {split(i.dst)[0] for i in g.insns if i.dst}
    return [
        n
        for n, node in enumerate(g.nodes)
        if not {split(v)[0] for i in node for v in g.insns[i].src} & written
        and not any(g.insns[i].operation.accumulates for i in node)
    ]


def listed(machine: HvxMachine, g: DependenceGraph) -> list[int] | None:
    """Return the slots of the nodes run once, longest chain first, in any registers."""
    once = replace(g, edges=tuple(e for e in g.edges if not e.distance))
    height = heights(once)
    return height and _list(machine, once, _Queue(once, [-h for h in height], {}), None)


def sink(
    machine: HvxMachine, g: DependenceGraph, start: list[int], interval: int | None = None
) -> None:
    """Move loads and their only users as late as their readers allow, for fewer live values."""
    written = {split(i.dst)[0] for i in g.insns if i.dst}
    table = ReservationTable(machine, interval)
    for n, slot in enumerate(start):
        table.add(slot, g.classes[n])
    behind: list[list[Edge]] = [[] for _ in start]
    for e in g.edges:
        behind[e.of].append(e)
    for n in sorted(range(len(start)), key=lambda n: -start[n]):
        sources = {split(v)[0] for i in g.nodes[n] for v in g.insns[i].src} & written
        latest = [
            start[e.to] - e.packets + (interval or 0) * e.distance for e in behind[n] if e.to != n
        ]
        if len(sources) > 1 or not latest:
            continue
        table.remove(start[n], g.classes[n])
        later = table.first(range(min(latest), start[n], -1), g.classes[n])
        start[n] = start[n] if later is None else later
        table.add(start[n], g.classes[n])


def straight(machine: HvxMachine, insns: Sequence[Insn]) -> Straight:
    """Schedule straight code; HexsimError if its values cannot fit the registers."""
    code = fitted(machine, insns)
    if code is None:
        raise HexsimError(
            f"straight code of {len(insns)} instructions: its values need more than "
            f"{machine.registers} vector registers; split it"
        )
    return code


def fitted(
    machine: HvxMachine,
    insns: Sequence[Insn],
    ready: Mapping[int, int] | None = None,
    edges: Edges = ALONE,
) -> Straight | None:
    """Schedule straight code so that its values fit the registers; None if that fails.

    `ready`: first slot allowed for an instruction, by its index. `edges`: values that end here or
    are needed afterwards. The longest chains are issued first; if too many values are live, only
    instructions whose values fit are issued, first by longest chain, then in program order.
    """
    g = graph(machine, tuple(insns), loop=False)
    for urgency, limits in _tries(machine, g, edges):
        live = Live(g, edges, limits) if limits else None
        start = _list(machine, g, _Queue(g, urgency, ready or {}), live)
        if start is None:
            continue
        sink(machine, g, start)
        times = [0] * len(insns)
        for n, node in enumerate(g.nodes):
            for i in node:
                times[i] = start[n]
        if allocate(machine, insns, times, None, edges) is not None:
            return Straight(machine, tuple(insns), tuple(times), edges)
    return None


def _tries(
    machine: HvxMachine, g: DependenceGraph, edges: Edges
) -> Iterator[tuple[Sequence[int], Mapping[str, int] | None]]:
    """Yield urgencies of the nodes (the least first), and the free registers of each file (None:
    no limit)."""
    height = heights(g)
    if height is None:
        return
    chains = [-h for h in height]
    yield chains, None
    occupied = early_registers(g.insns, edges)
    sizes = {**dict.fromkeys(FILES, PREDICATES), "v": machine.registers, "r": SCALARS}
    free = {file: sizes[file] - occupied[file] for file in FILES}
    yield chains, free
    order = [min(node) for node in g.nodes]
    yield order, None
    yield order, free


class _Queue:
    """Nodes that may start as soon as a slot has room, the most urgent first."""

    def __init__(self, g: DependenceGraph, urgency: Sequence[int], ready: Mapping[int, int]):
        self.order = sorted(range(len(g.nodes)), key=lambda n: (urgency[n], n))
        self.rank = [0] * len(g.nodes)
        for rank, n in enumerate(self.order):
            self.rank[n] = rank
        self.earliest = [max(ready.get(i, 0) for i in node) for node in g.nodes]
        self.behind: list[list[tuple[int, int]]] = [[] for _ in g.nodes]
        self.unplaced = [0] * len(g.nodes)  # nodes before each that have no slot yet
        for e in g.edges:
            self.behind[e.of].append((e.to, e.packets))
            self.unplaced[e.to] += 1
        self.ranks: list[int] = []
        self._later: dict[int, list[int]] = {}  # ranks of nodes that may start in a later slot
        for n, before in enumerate(self.unplaced):
            if not before:
                self._later.setdefault(self.earliest[n], []).append(self.rank[n])

    def advance(self, slot: int) -> None:
        """Add the nodes that may start from this slot on."""
        self.ranks = sorted(self.ranks + self._later.pop(slot, []))

    def issue(self, n: int, slot: int) -> None:
        """Remove a node and add those that waited only for it."""
        self.ranks.remove(self.rank[n])
        for m, wait in self.behind[n]:
            self.unplaced[m] -= 1
            self.earliest[m] = max(self.earliest[m], slot + wait)
            if self.unplaced[m]:
                continue
            if self.earliest[m] <= slot:
                insort(self.ranks, self.rank[m])
            else:
                self._later.setdefault(self.earliest[m], []).append(self.rank[m])


def _list(
    machine: HvxMachine, g: DependenceGraph, queue: _Queue, live: Live | None
) -> list[int] | None:
    """Return the start slot of every node, filling slot after slot, within the free registers.

    None if no node can be placed for lack of a register.
    """
    start: dict[int, int] = {}
    table = ReservationTable(machine)
    latest = max(queue.earliest, default=0)
    slot = last = 0
    while len(start) < len(g.nodes):
        queue.advance(slot)
        full: set[Wants] = set()  # classes for which this slot has no room
        placed = True
        while placed:  # zero-packet edges may release more for this slot
            placed = False
            at = 0
            while at < len(queue.ranks):
                rank = queue.ranks[at]
                n = queue.order[rank]
                at += 1
                if g.classes[n] in full:
                    continue
                if not table.has_room(slot, g.classes[n]):
                    full.add(g.classes[n])
                elif live is None or live.fits(n):
                    start[n] = last = slot
                    table.add(slot, g.classes[n])
                    if live is not None:
                        live.place(n)
                    queue.issue(n, slot)
                    at = bisect(queue.ranks, rank)
                    placed = True
        slot += 1
        if slot > max(last, latest) + LONGEST_WAIT:
            return None
    return [start[n] for n in range(len(g.nodes))]
