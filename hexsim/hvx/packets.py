"""Instructions and packets: which instructions can share a packet, and their assembly text.

Instructions use names of values: a name ("acc") is one value and its `+=` updates. The halves of
a pair are ".lo" and ".hi", the vectors of a quadruple ".0" to ".3"; the halves of a pair may be
written separately and read together. `registers.py` assigns real registers for printing.
"""

import re
from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
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
    busy = machine.multiply_pipes * (BUSY in names)
    free = (machine.permute_pipes, machine.shift_pipes, machine.multiply_pipes - busy)
    needs = sorted((machine.alternatives(c) for c in classes if c.pipes), key=len)
    return _slots_fit(sorted(classes, key=lambda c: len(c.slots)), frozenset()) and _pipes_fit(
        machine, needs, free
    )


def _slots_fit(classes: list[InstructionClass], used: frozenset[int]) -> bool:
    if not classes:
        return True
    first, *others = classes
    for slot in first.slots:
        occupied = {slot, 1} if first.blocks_slot1 else {slot}
        if not occupied & used and _slots_fit(others, used | occupied):
            return True
    return False


def _pipes_fit(
    machine: HvxMachine, needs: list[tuple[Pipes, ...]], free: tuple[int, int, int]
) -> bool:
    if min(free) < 0:
        return False
    if not needs:
        return True
    for choice in needs[0]:
        multiplies = min(choice.multiply, machine.multiply_pipes)
        still_free = (free[0] - choice.permute, free[1] - choice.shift, free[2] - multiplies)
        if _pipes_fit(machine, needs[1:], still_free):
            return True
    return False


def resource_bound(machine: HvxMachine, insns: Iterable[Insn]) -> int:
    """Return the least number of packets that slots, pipes and ports allow for `insns`."""
    counts = Counter(i.instruction_class(machine).name for i in insns)
    classes = [(machine.classes[name], count) for name, count in counts.items()]
    bound = 0
    for slots in _subsets(range(SLOTS)):
        only_here = sum(count for c, count in classes if slots.issuperset(c.slots))
        bound = max(bound, -(-only_here // len(slots)))
    available = Pipes(machine.permute_pipes, machine.shift_pipes, machine.multiply_pipes)
    for kinds in _subsets(PIPE_KINDS):
        units = sum(
            count * min(_units(p, kinds) for p in machine.alternatives(c))
            for c, count in classes
            if c.pipes
        )
        bound = max(bound, -(-units // _units(available, kinds)))
    for port in Port:
        using = sum(count for c, count in classes if c.port is port)
        bound = max(bound, -(-using // machine.ports(port)))
    return bound


def _subsets(of: Iterable[_T]) -> list[set[_T]]:
    members = list(of)
    return [set(s) for n in range(1, len(members) + 1) for s in combinations(members, n)]


def _units(pipes: Pipes, kinds: set[str]) -> int:
    return sum(getattr(pipes, kind) for kind in kinds)
