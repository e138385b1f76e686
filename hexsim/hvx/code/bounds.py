"""What limits a loop of compiled code, and what another order or unrolling would give at most.

Two bounds hold for every order of the instructions: a resource (slots, vector pipes, ports) needs
so many packets, and a result that an iteration passes to the next takes so long. Iterations that
overlap (software pipelining) can reach the larger one if there are registers enough. Unrolled code
is scheduled here as straight code, longest chain first: its copies fill each other's waits.

Assumed for both: any number of registers, memory accesses that may change places unless they name
the same address, and a value that an instruction adds to (a sum, an address) that becomes one for
each copy. `nop` counts nowhere.
"""

import math
from collections.abc import Iterator, Sequence
from fractions import Fraction
from functools import cached_property

from hexsim.hvx.code.disassembly import CodePacket, Instruction, Register
from hexsim.hvx.code.memory import GATHER_SLOTS, GATHER_UNIT
from hexsim.hvx.code.timing import (
    Issue,
    address_registers,
    forget_places,
    forwarded,
    slots,
    waits_of,
)
from hexsim.hvx.dependences import DependenceGraph, Edge
from hexsim.hvx.isa import CodeMachine, Port
from hexsim.hvx.packets import PIPE_KINDS, SLOTS, resource_needs
from hexsim.hvx.scheduling import heights, listed
from hexsim.records import dataclass

UNROLLS = (1, 2, 4)
_SHOWN = (GATHER_UNIT, "slots 0 1 2 3", "slots 0 1", "slots 2 3", *PIPE_KINDS, *Port)
"""Resources that are always named; a set of several is named only if it needs most."""
_MOST_NODES = 600
"""Instructions of an unrolled loop that are still scheduled."""


@dataclass(frozen=True)
class LoopBounds:
    """The bounds of a loop's iteration, in slots, beside what it takes.

    needs: packets for each resource. recurrence: slots for what iterations pass to each other.
    """

    machine: CodeMachine
    packets: tuple[CodePacket, ...]
    issues: tuple[Issue, ...]

    @cached_property
    def slots(self) -> int:
        """Slots that an iteration takes."""
        return slots(self.issues)

    @cached_property
    def needs(self) -> dict[str, Fraction]:
        """The packets for each resource by its name, the largest first."""
        names = [i.description.of_class.name for i in _useful(self.packets)]
        needs = resource_needs(self.machine, names)
        if gathers := self.gather_slots:
            needs[GATHER_UNIT] = Fraction(gathers)
        most = max(needs.values(), default=Fraction(0))
        ordered = sorted(needs.items(), key=lambda item: (-item[1], item[0] not in _SHOWN))
        return {
            _named(name): needed for name, needed in ordered if name in _SHOWN or needed == most
        }

    @property
    def gather_slots(self) -> int:
        """The slots that its gathers and scatters take in VTCM."""
        return GATHER_SLOTS * sum(i.is_gather for i in _useful(self.packets))

    @cached_property
    def recurrence(self) -> int:
        """The least slots between iterations for values that depend on themselves."""
        g = code_graph(self.packets, 1)
        return next((k for k in range(1, self.slots) if heights(g, k) is not None), self.slots)

    @property
    def resource_bound(self) -> int:
        """The least packets for the busiest resource."""
        return max(1, math.ceil(max(self.needs.values(), default=Fraction(0))))

    @property
    def bound(self) -> int:
        """The least slots of an iteration in any order."""
        return min(self.slots, max(self.resource_bound, self.recurrence))

    @property
    def limit(self) -> str:
        """What limits the loop, in a sentence without its full stop."""
        stalls = self.slots - len(self.packets)
        if self.slots == self.resource_bound:
            resource = next(iter(self.needs), "issue")
            return f"{resource}: no order of these instructions takes fewer packets"
        if self.slots == self.bound:
            chain = next((issue.cause for issue in self.issues if issue.stall), "")
            after = f" ({chain})" if chain else ""
            return f"a value that each iteration needs from the one before{after}"
        if stalls and (longest := max(self.issues, key=lambda issue: issue.stall)):
            return f"waits, {stalls} of {self.slots} slots: {longest.cause}"
        return f"its order: {self.slots} packets, where its resources need {self.bound}"

    def unrolled(self, copies: int) -> Fraction | None:
        """Return the slots of an iteration if `copies` of it are scheduled together.

        None if that is too much code to schedule.
        """
        g = code_graph(self.packets, copies)
        start = listed(self.machine, g) if len(g.nodes) <= _MOST_NODES else None
        if not start:
            return None
        length = max(start) + 1
        carried = (start[e.of] + e.packets - start[e.to] for e in g.edges if e.distance)
        return max(Fraction(max(length, *carried, 0), copies), Fraction(self.gather_slots))


def _named(resource: str) -> str:
    """Return a resource of `resource_needs` in words."""
    kind, *others = resource.split()
    if resource == GATHER_UNIT:
        return resource
    if kind == "slots":
        if len(others) == SLOTS:
            return "four slots"
        return f"slot{'s' * (len(others) > 1)} {' and '.join(others)}"
    if resource in tuple(Port):
        return f"{resource} port"
    pipes = resource.split(" and ")
    return f"{resource} pipes" if len(pipes) < len(PIPE_KINDS) else "all vector pipes"


def _useful(packets: Sequence[CodePacket]) -> Iterator[Instruction]:
    return (i for packet in packets for i in packet.instructions if not i.is_padding)


class _Dependences:
    """The true dependences of packets that are read in order."""

    def __init__(self) -> None:
        self.instructions: list[Instruction] = []
        self.origins: list[int] = []
        self.groups: list[int] = []
        self.edges: list[Edge] = []
        self._written: dict[str, tuple[int, int]] = {}
        self._carried: list[tuple[int, str, int]] = []

    def add(self, packet: CodePacket, first: int, copy: int) -> int:
        """Add a packet of a copy whose instructions are numbered from `first`; return the next."""
        here = [i for i in packet.instructions if not i.is_padding]
        if copy:  # one jump closes all copies
            here = [i for i in here if i.target is None]
        numbered = list(enumerate(here, len(self.instructions)))
        self.instructions += here
        self.origins += [first + packet.instructions.index(i) for i in here]
        self.groups += [number for number, _ in numbered]
        inside = forwarded(packet)
        made: dict[str, int] = {}
        kept: dict[str, tuple[int, int]] = {}
        for number, instruction in numbered:
            for register in instruction.registers:
                if register.writes is not None:
                    made |= dict.fromkeys(register.names, number)
                    if register.forwarded != "tmp":
                        kept |= dict.fromkeys(register.names, (number, register.writes))
        for number, instruction in numbered:
            if instruction.text.startswith("immext") and number + 1 < len(self.instructions):
                self._tie(number, number + 1)
            for register in instruction.registers:
                if register.reads is not None:
                    self._read(number, register, inside, made)
        self._written |= kept
        forget_places(self._written, made)
        return first + len(packet.instructions)

    def _tie(self, kept: int, other: int) -> None:
        """Keep two instructions in one packet."""
        old, group = self.groups[other], self.groups[kept]
        self.groups = [group if each == old else each for each in self.groups]

    def _read(
        self, number: int, register: Register, inside: set[str], made: dict[str, int]
    ) -> None:
        clock = register.reads or 0
        for name in register.names:
            if name in inside and made.get(name, number) != number:
                self._tie(made[name], number)
            elif register.forwarded == "new" and name in made:
                if name.startswith("v"):
                    self._tie(made[name], number)
                elif made[name] != number:
                    self.edges.append(Edge(made[name], number, 0, 0))
            elif name in self._written:
                of, written = self._written[name]
                wait = waits_of(written, clock)
                if self.origins[of] == self.origins[number]:  # a sum of its own for each copy
                    self.edges.append(Edge(number, number, wait, 1))
                else:
                    self.edges.append(Edge(of, number, wait, 0))
            else:
                self._carried.append((number, name, clock))

    def close(self) -> None:
        """Add what an iteration takes from the one before."""
        for number, name, clock in self._carried:
            if name in self._written and address_registers(name).isdisjoint(self._written):
                of, written = self._written[name]
                own = self.origins[of] == self.origins[number]
                wait = waits_of(written, clock)
                self.edges.append(Edge(number if own else of, number, wait, 1))


def code_graph(packets: Sequence[CodePacket], copies: int) -> DependenceGraph:
    """Return the dependences of a loop whose body is repeated; its nodes have no `Insn`s."""
    dependences = _Dependences()
    for copy in range(copies):
        number = 0
        for packet in packets:
            number = dependences.add(packet, number, copy)
    dependences.close()
    members: dict[int, list[int]] = {}
    for index, group in enumerate(dependences.groups):
        members.setdefault(group, []).append(index)
    node_of = {index: n for n, node in enumerate(members.values()) for index in node}
    strongest: dict[tuple[int, int, int], int] = {}
    for e in dependences.edges:
        ends = (node_of[e.of], node_of[e.to], e.distance)
        if ends[0] != ends[1] or e.distance:
            strongest[ends] = max(strongest.get(ends, 0), e.packets)
    names = [i.description.of_class.name for i in dependences.instructions]
    return DependenceGraph(
        (),
        tuple(map(tuple, members.values())),
        tuple(Edge(of, to, wait, far) for (of, to, far), wait in strongest.items()),
        tuple((tuple(names[i] for i in node),) for node in members.values()),
    )
