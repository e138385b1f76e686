"""Straight code into packets: list scheduling, longest path first.

Packets issue in order. Where nothing can be issued the thread waits: that is a stall, counted
apart from packets.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from hexsim.errors import HexsimError
from hexsim.hvx.dependences import Edge, Graph, graph
from hexsim.hvx.isa import Machine
from hexsim.hvx.packets import Insn, Packet, fits, split
from hexsim.hvx.pressure import Live, early_registers
from hexsim.hvx.registers import ALONE, FILES, PREDICATES, SCALARS, Edges, allocate

LONGEST_WAIT = 16  # slots, longer than any latency


@dataclass(frozen=True)
class Straight:
    """Straight code: the issue slot of every instruction.

    length: packet slots from the first to the last, stalls included.
    """

    machine: Machine
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
        """Slots in which nothing could be issued."""
        return self.length - len(set(self.times))


class ReservationTable:
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


def sources(g: Graph) -> list[int]:
    """Nodes that need no value made here: loads, moved constants."""
    made = {split(i.dst)[0] for i in g.insns if i.dst}
    return [
        n
        for n, node in enumerate(g.nodes)
        if not {split(v)[0] for i in node for v in g.insns[i].src} & made
        and not any(g.insns[i].operation.accumulates for i in node)
    ]


def sink(machine: Machine, g: Graph, start: list[int], interval: int | None = None) -> None:
    """Move loads and what they alone feed as late as their readers allow: fewer live values."""
    made = {split(i.dst)[0] for i in g.insns if i.dst}
    table = ReservationTable(machine, interval)
    for n, slot in enumerate(start):
        table.add(slot, g.classes[n])
    behind: list[list[Edge]] = [[] for _ in start]
    for e in g.edges:
        behind[e.of].append(e)
    for n in sorted(range(len(start)), key=lambda n: -start[n]):
        sources = {split(v)[0] for i in g.nodes[n] for v in g.insns[i].src} & made
        latest = [
            start[e.to] - e.packets + (interval or 0) * e.distance for e in behind[n] if e.to != n
        ]
        if len(sources) > 1 or not latest:
            continue
        table.remove(start[n], g.classes[n])
        start[n] = next(
            s for s in range(min(latest), start[n] - 1, -1) if table.has_room(s, g.classes[n])
        )
        table.add(start[n], g.classes[n])


def straight(machine: Machine, insns: Sequence[Insn]) -> Straight:
    """Schedule straight code; HexsimError if its values cannot fit the registers."""
    code = fitted(machine, insns)
    if code is None:
        raise HexsimError(
            f"straight code of {len(insns)} instructions: its values need more than "
            f"{machine.registers} vector registers; split it"
        )
    return code


def fitted(
    machine: Machine,
    insns: Sequence[Insn],
    ready: Mapping[int, int] | None = None,
    edges: Edges = ALONE,
) -> Straight | None:
    """Schedule straight code so that its values fit the registers; None if that is not found.

    `ready`: first slot allowed for an instruction, by its index. `edges`: values that end here or
    are needed afterwards. Longest chains go first; if that keeps too many values alive, only what
    leaves room is issued, longest chains or else program order first.
    """
    g = graph(machine, tuple(insns), loop=False)
    taken = early_registers(insns, edges)
    sizes = {**dict.fromkeys(FILES, PREDICATES), "v": machine.registers, "r": SCALARS}
    free = {file: sizes[file] - taken[file] for file in FILES}
    unlimited = dict.fromkeys(FILES, len(insns) * 4)
    height = [-h for h in heights(g)]
    order = [min(node) for node in g.nodes]
    tries = ((height, unlimited), (height, free), (order, unlimited), (order, free))
    for urgency, limits in tries:
        start = _list(machine, g, urgency, ready or {}, limits, edges)
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


def _list(
    machine: Machine,
    g: Graph,
    urgency: Sequence[int],
    ready: Mapping[int, int],
    limits: Mapping[str, int],
    edges: Edges,
) -> list[int] | None:
    """Start slot of every node, filling slot after slot, with `limits` on registers of new values.

    None if only another register would let it go on.
    """
    behind: list[list[tuple[int, int]]] = [[] for _ in g.nodes]
    unplaced = [0] * len(g.nodes)  # nodes before each that have no slot yet
    for e in g.edges:
        behind[e.of].append((e.to, e.packets))
        unplaced[e.to] += 1
    start: dict[int, int] = {}
    waiting = sorted(range(len(g.nodes)), key=lambda n: (urgency[n], n))
    earliest = [max(ready.get(i, 0) for i in node) for node in g.nodes]
    table, live = ReservationTable(machine), Live(g, edges)
    latest = max(earliest, default=0)
    slot = last = 0
    while waiting:
        placed = True
        full: set[tuple[tuple[str, ...], ...]] = set()  # wants that this slot has no room for
        while placed:  # zero-packet edges may release more for this slot
            placed = False
            for n in list(waiting):
                if unplaced[n] or earliest[n] > slot or g.classes[n] in full:
                    continue
                if not table.has_room(slot, g.classes[n]):
                    full.add(g.classes[n])
                elif live.fits(n, limits):
                    start[n] = last = slot
                    table.add(slot, g.classes[n])
                    live.place(n)
                    waiting.remove(n)
                    for m, wait in behind[n]:
                        unplaced[m] -= 1
                        earliest[m] = max(earliest[m], slot + wait)
                    placed = True
        slot += 1
        if slot > max(last, latest) + LONGEST_WAIT:
            return None
    return [start[n] for n in range(len(g.nodes))]
