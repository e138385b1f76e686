"""Straight code into packets: list scheduling, longest path first.

Packets issue in order. Where nothing can be issued the thread waits: that is a stall, counted
apart from packets.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from hexsim.hvx.dependences import Graph, graph
from hexsim.hvx.isa import Machine
from hexsim.hvx.packets import Insn, Packet, fits


@dataclass(frozen=True)
class Straight:
    """Straight code: the issue slot of every instruction.

    length: packet slots from the first to the last, stalls included.
    """

    machine: Machine
    insns: tuple[Insn, ...]
    times: tuple[int, ...]

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
        """Slots in which nothing could be issued."""
        return self.length - len(set(self.times))


class Table:
    """Which classes are issued in each packet slot; `period` folds slots for a loop."""

    def __init__(self, machine: Machine, period: int | None = None):
        self.machine = machine
        self.period = period
        self.rows: dict[int, tuple[str, ...]] = {}

    def _row(self, slot: int) -> int:
        return slot % self.period if self.period else slot

    def has_room(self, slot: int, classes: tuple[tuple[str, ...], ...]) -> bool:
        """Whether a node with these wants could start in a slot."""
        wanted: dict[int, tuple[str, ...]] = {}
        for k, names in enumerate(classes):
            row = self._row(slot + k)
            wanted[row] = wanted.get(row, self.rows.get(row, ())) + names
        return all(fits(self.machine, tuple(sorted(names))) for names in wanted.values())

    def add(self, slot: int, classes: tuple[tuple[str, ...], ...]) -> None:
        """Issue a node in a slot."""
        for k, names in enumerate(classes):
            row = self._row(slot + k)
            self.rows[row] = self.rows.get(row, ()) + names

    def remove(self, slot: int, classes: tuple[tuple[str, ...], ...]) -> None:
        """Take a node out again."""
        for k, names in enumerate(classes):
            row = self._row(slot + k)
            left = list(self.rows[row])
            for name in names:
                left.remove(name)
            self.rows[row] = tuple(left)


def heights(g: Graph) -> list[int]:
    """Packets from the start of each node to the end of the longest chain behind it."""
    height = [0] * len(g.nodes)
    for _ in g.nodes:
        changed = False
        for e in g.edges:
            if e.distance == 0 and height[e.to] + e.packets > height[e.of]:
                height[e.of] = height[e.to] + e.packets
                changed = True
        if not changed:
            break
    return height


def straight(
    machine: Machine, insns: Sequence[Insn], ready: Mapping[int, int] | None = None
) -> Straight:
    """Schedule straight code. `ready`: first slot allowed for an instruction, by its index."""
    g = graph(machine, insns, loop=False)
    height = heights(g)
    before: list[list[tuple[int, int]]] = [[] for _ in g.nodes]
    for e in g.edges:
        before[e.to].append((e.of, e.packets))
    earliest = [max((ready or {}).get(i, 0) for i in node) for node in g.nodes]
    start: list[int | None] = [None] * len(g.nodes)
    table = Table(machine)
    slot = 0
    while any(s is None for s in start):
        placed = True
        while placed:  # zero-packet edges may release more for this slot
            placed = False
            for n in sorted(range(len(g.nodes)), key=lambda n: (-height[n], n)):
                if start[n] is None and earliest[n] <= slot and table.has_room(slot, g.classes[n]):
                    starts = [(start[p], wait) for p, wait in before[n]]
                    if all(s is not None and s + wait <= slot for s, wait in starts):
                        start[n] = slot
                        table.add(slot, g.classes[n])
                        placed = True
        slot += 1
    times = [0] * len(insns)
    for n, node in enumerate(g.nodes):
        for i in node:
            times[i] = start[n] or 0
    return Straight(machine, tuple(insns), tuple(times))
