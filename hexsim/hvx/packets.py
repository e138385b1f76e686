"""Packets: which instructions can share one, and their assembly text.

Instructions use names of values: a name ("acc") is one value and its `+=` updates. The halves of a
pair are ".lo" and ".hi", the vectors of a quadruple ".0" to ".3"; the halves of a pair may be
written separately and read together. `registers.py` assigns real registers for printing.

The contents of a packet are a state of an automaton, as in LLVM's packetizer: `fits` is called once
per state, and a dictionary holds the next state when instructions are added.
"""

from __future__ import annotations

import math
import re
import sys
from collections import Counter
from collections.abc import Iterable, Mapping
from fractions import Fraction
from functools import cache
from itertools import combinations, permutations
from typing import TypeVar

from hexsim.errors import HexsimError
from hexsim.hvx.instructions import OPERATIONS, HvxInstruction
from hexsim.hvx.isa import (
    ADDRESS_READ,
    LATE_READ,
    SCALAR_READ,
    SCALAR_RESULT,
    HvxMachine,
    InstructionClass,
    Pipes,
    Port,
)
from hexsim.records import dataclass

_T = TypeVar("_T")
SLOTS = 4
CLOCKS_PER_PACKET = 2  # of one thread
PIPE_KINDS = ("permute", "shift", "multiply")
BUSY = "busy multiply"  # resource of a multiply that continues in a further packet


@dataclass(frozen=True)
class Insn:
    """One instruction over named values.

    op: key of OPERATIONS. dst: name of the result, "" if none. src: names of the sources in the
    order of their letters. imm: immediate, in bytes for scalars, in vectors for vector addresses.
    """

    op: str
    dst: str = ""
    src: tuple[str, ...] = ()
    imm: int = 0

    @property
    def operation(self) -> HvxInstruction:
        """The entry of the instruction table."""
        return OPERATIONS[self.op]

    def instruction_class(self, machine: HvxMachine) -> InstructionClass:
        """Return resources and times; HexsimError if the architecture lacks the instruction."""
        name = self.operation.of_class
        if name not in machine.classes:
            raise HexsimError(
                f"instruction {self.op}: V{machine.version} has no '{name}' instructions; "
                "write this stream for a later architecture"
            )
        return machine.classes[name]

    def reads(self, machine: HvxMachine) -> list[tuple[str, int]]:
        """Return (register part, clock in which it is read), accumulator included."""
        operation, of_class = self.operation, self.instruction_class(machine)
        part_clocks = []
        for letter, value in zip(operation.sources, self.src, strict=True):
            kind = operation.kinds[letter]
            if letter == "a" and kind == "r" and operation.addresses:
                clock = ADDRESS_READ
            elif kind in "rslp":
                clock = min(of_class.reads, SCALAR_READ)
            else:
                clock = of_class.reads
            part_clocks += [(part, clock) for part in parts(value, kind)]
        if operation.accumulates:
            part_clocks += [(part, LATE_READ) for part in self.results]
        if operation.fixed and not operation.addresses:
            part_clocks.append((operation.fixed, of_class.reads))
        return part_clocks

    def writes(self, machine: HvxMachine) -> list[tuple[str, int]]:
        """Return (register part, clock in which it is ready), incremented addresses included."""
        of_class = self.instruction_class(machine)
        later = machine.further_packets(of_class) * CLOCKS_PER_PACKET
        part_clocks = [(part, of_class.writes + later) for part in self.results]
        if self.address:
            part_clocks.append((parts(self.address, "r")[0], SCALAR_RESULT))
        if self.operation.fixed and self.operation.addresses:
            part_clocks.append((self.operation.fixed, of_class.writes))
        return part_clocks

    @property
    def results(self) -> tuple[str, ...]:
        """Register parts of the result."""
        return parts(self.dst, self.operation.kinds["d"]) if self.dst else ()

    @property
    def address(self) -> str:
        """The address value it increments, "" if none."""
        letter = self.operation.increments
        return self.src[self.operation.sources.index(letter)] if letter else ""

    @property
    def in_place(self) -> str:
        """The value it updates in the same register (`x = add(x, 1)`), "" if none."""
        return self.dst if self.dst in self.src else ""

    def occupancy(self, machine: HvxMachine) -> tuple[str, ...]:
        """Return its resource in each packet from its own on (one entry on real machines)."""
        of_class = self.instruction_class(machine)
        return (of_class.name,) + (BUSY,) * machine.further_packets(of_class)

    def text(self, registers: Mapping[str, str]) -> str:
        """Return assembly text; `registers` maps operand letters to register names."""
        filled = re.sub(r"\{(\w):\w\}", lambda m: registers[m[1]], self.operation.text)
        return filled.replace("{i}", str(self.imm))


_PART = {".lo": 0, ".hi": 1, ".0": 0, ".1": 1, ".2": 2, ".3": 3}
KIND_SIZE = {"v": 1, "w": 2, "z": 4, "q": 1, "r": 1, "l": 1, "s": 2, "p": 1}  # registers per kind


@cache
def split(value: str) -> tuple[str, int | None]:
    """Return the name of a value and the index of one of its registers, None for all."""
    for suffix, part in _PART.items():
        if value.endswith(suffix):
            return value.removesuffix(suffix), part
    return value, None


@cache
def parts(value: str, kind: str) -> tuple[str, ...]:
    """Return the single registers of a value of a kind, as "name:0", "name:1" ...

    A half of a pair or a quarter of a quadruple may itself be read as a pair or single.
    """
    base, part = split(value)
    first = 0 if part is None else part
    return tuple(f"{base}:{first + k}" for k in range(KIND_SIZE[kind]))


@dataclass(frozen=True)
class Packet:
    """Instructions issued together."""

    insns: tuple[Insn, ...]

    def legal(self, machine: HvxMachine) -> bool:
        """Tell whether the machine can issue it (slots, pipes, ports)."""
        return fits(machine, tuple(sorted(i.occupancy(machine)[0] for i in self.insns)))


def fits(machine: HvxMachine, names: tuple[str, ...]) -> bool:
    """Tell whether instructions of these classes (sorted names) can share one packet."""
    classes = [machine.classes[name] for name in names if name != BUSY]
    if len(classes) > SLOTS or (len(classes) > 1 and any(c.solo for c in classes)):
        return False
    if any(c.name in d.excludes for c, d in permutations(classes, 2)):
        return False
    ports = [c.port for c in classes if c.port]
    if any(ports.count(port) > machine.ports(port) for port in ports):
        return False
    busy = Pipes(multiply=machine.multiply_pipes * (BUSY in names))
    return slots_of(classes) is not None and pipes_of(machine, classes, busy) is not None


def slots_of(classes: Iterable[InstructionClass]) -> tuple[int, ...] | None:
    """Return slots for instructions of these classes; None if there are too few."""
    return _slots(sorted(classes, key=lambda c: len(c.slots)), frozenset())


def _slots(classes: list[InstructionClass], taken: frozenset[int]) -> tuple[int, ...] | None:
    if not classes:
        return ()
    first, *others = classes
    for slot in first.slots:
        occupied = {slot, 1} if first.blocks_slot1 else {slot}
        if not occupied & taken:
            further = _slots(others, taken | occupied)
            if further is not None:
                return (slot, *further)
    return None


NO_PIPES = Pipes()


def pipes_of(
    machine: HvxMachine, classes: Iterable[InstructionClass], used: Pipes = NO_PIPES
) -> Pipes | None:
    """Return the pipes that these classes occupy beside `used` ones; None if there are too few."""
    needs = sorted((machine.alternatives(c) for c in classes if c.pipes), key=len)
    return _pipes(machine, needs, used)


def _pipes(machine: HvxMachine, needs: list[tuple[Pipes, ...]], used: Pipes) -> Pipes | None:
    if used.permute > machine.permute_pipes or used.shift > machine.shift_pipes:
        return None
    if used.multiply > machine.multiply_pipes:
        return None
    if not needs:
        return used
    for choice in needs[0]:
        multiplies = min(choice.multiply, machine.multiply_pipes)
        more = Pipes(
            used.permute + choice.permute, used.shift + choice.shift, used.multiply + multiplies
        )
        assignment = _pipes(machine, needs[1:], more)
        if assignment is not None:
            return assignment
    return None


def resource_bound(machine: HvxMachine, insns: Iterable[Insn]) -> int:
    """Return the least number of packets that slots, pipes and ports allow for `insns`."""
    names = [i.instruction_class(machine).name for i in insns]
    return max(map(math.ceil, resource_needs(machine, names).values()), default=0)


def resource_needs(machine: HvxMachine, names: Iterable[str]) -> dict[str, Fraction]:
    """Return the packets that instructions of these classes need, by what they need it for.

    A resource is a set of slots ("slots 2 3"), a set of vector pipes ("multiply", "permute and
    shift") or a port. Only instructions that can go nowhere else count for a set.
    """
    classes = [(machine.classes[name], count) for name, count in Counter(names).items()]
    needs: dict[str, Fraction] = {}
    for slots in _subsets(range(SLOTS)):
        only_here = sum(count for c, count in classes if slots.issuperset(c.slots))
        needs["slots " + " ".join(map(str, sorted(slots)))] = Fraction(only_here, len(slots))
    available = Pipes(machine.permute_pipes, machine.shift_pipes, machine.multiply_pipes)
    for kinds in _subsets(PIPE_KINDS):
        units = sum(
            count * min(_units(p, kinds) for p in machine.alternatives(c))
            for c, count in classes
            if c.pipes
        )
        needs[" and ".join(sorted(kinds))] = Fraction(units, _units(available, kinds))
    for port in Port:
        using = sum(count for c, count in classes if c.port is port)
        needs[port] = Fraction(using, machine.ports(port))
    return {name: needed for name, needed in needs.items() if needed}


def _subsets(of: Iterable[_T]) -> list[set[_T]]:
    members = list(of)
    return [set(s) for n in range(1, len(members) + 1) for s in combinations(members, n)]


def _units(pipes: Pipes, kinds: set[str]) -> int:
    return sum(getattr(pipes, kind) for kind in kinds)


Wants = tuple[tuple[str, ...], ...]
"""Class names of all instructions of a node, for each packet from its start on."""


class PacketContents:
    """The classes of a packet (sorted names); `fit` tells whether they can share it."""

    def __init__(
        self,
        machine: HvxMachine,
        names: tuple[str, ...],
        known: dict[tuple[str, ...], PacketContents],
    ):
        self.machine = machine
        self.names = names
        self.fit = fits(machine, names)
        self._known = known  # all fillings of the machine, by names
        self._joined: dict[tuple[str, ...], PacketContents] = {}

    def joined(self, names: tuple[str, ...]) -> PacketContents:
        """Return the contents with these classes added."""
        filling = self._joined.get(names)
        if filling is None:
            filling = self._joined[names] = self._other(tuple(sorted(self.names + names)))
        return filling

    def parted(self, names: tuple[str, ...]) -> PacketContents:
        """Return the contents without these classes."""
        remaining = list(self.names)
        for name in names:
            remaining.remove(name)
        return self._other(tuple(remaining))

    def _other(self, names: tuple[str, ...]) -> PacketContents:
        if names not in self._known:
            self._known[names] = PacketContents(self.machine, names, self._known)
        return self._known[names]


@cache
def empty(machine: HvxMachine) -> PacketContents:
    """Return the empty packet of a machine."""
    known: dict[tuple[str, ...], PacketContents] = {}
    return known.setdefault((), PacketContents(machine, (), known))


class ReservationTable:
    """The contents of each packet slot; in a loop slots repeat every `period`."""

    def __init__(self, machine: HvxMachine, period: int | None = None):
        self.period = period or sys.maxsize  # straight code is a loop that never repeats
        self.empty = empty(machine)
        self.rows: dict[int, PacketContents] = {}

    def has_room(self, slot: int, wants: Wants) -> bool:
        """Tell whether a node of these classes could start in a slot."""
        if len(wants) == 1:  # the usual case
            return self.rows.get(slot % self.period, self.empty).joined(wants[0]).fit
        fillings: dict[int, PacketContents] = {}
        for k, names in enumerate(wants):
            row = (slot + k) % self.period
            fillings[row] = (fillings.get(row) or self.rows.get(row, self.empty)).joined(names)
        return all(filling.fit for filling in fillings.values())

    def first(self, slots: Iterable[int], wants: Wants) -> int | None:
        """Return the first of these slots in which a node of these classes could start."""
        return next((slot for slot in slots if self.has_room(slot, wants)), None)

    def add(self, slot: int, wants: Wants) -> None:
        """Add a node in a slot."""
        for k, names in enumerate(wants):
            row = (slot + k) % self.period
            self.rows[row] = self.rows.get(row, self.empty).joined(names)

    def remove(self, slot: int, wants: Wants) -> None:
        """Remove a node from a slot."""
        for k, names in enumerate(wants):
            row = (slot + k) % self.period
            self.rows[row] = self.rows[row].parted(names)
