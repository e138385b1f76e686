"""Assigns real registers to the values of a schedule.

A loop whose values live longer than its interval is unrolled (modulo variable expansion): copy k
of the body uses other registers than copy k-1. Lifetimes are arcs on the circle of the unrolled
loop and take the first register that is free along the arc; reads precede writes within a packet.
A schedule whose values do not fit is rejected, because spills are not modelled.

Register pressure while straight code is scheduled.
"""

from collections.abc import Mapping, Sequence

from hexsim.hvx.dependences import DependenceGraph
from hexsim.hvx.isa import HvxMachine
from hexsim.hvx.packets import KIND_SIZE, Insn, split
from hexsim.records import dataclass

SCALARS = 28  # r0-r27; r28 is scratch, r29-r31 belong to the call
LOW_SCALARS = 8  # r0-r7, the only registers that some vector instructions accept
PREDICATES = 4
STACK, STACK_REGISTER = "sp", 29  # the only value whose register is fixed by the ABI
FILES = ("v", "r", "q", "p")  # vectors, scalars, vector and scalar predicates
UNROLLS = 4  # unroll factors that are tried


_FILE = {"v": "v", "w": "v", "z": "v", "r": "r", "s": "r", "l": "r", "q": "q", "p": "p"}


def register_file(kind: str) -> str:
    """Return the file of a kind of register."""
    return _FILE[kind]


@dataclass(slots=True)
class Value:
    """kind: register kind of the whole value; born, dies: slots; born None: lives throughout."""

    kind: str
    born: int | None = None
    dies: int = 0
    low: bool = False


@dataclass(frozen=True)
class Edges:
    """Values at the edges of straight code: `dying` were written before and are not needed after,
    `lasting` are written here and needed after. Others that are read first live throughout."""

    dying: frozenset[str] = frozenset()
    lasting: frozenset[str] = frozenset()


ALONE = Edges()


@dataclass(frozen=True)
class Allocation:
    """First register of every (value, copy of the body); copies: how often it is unrolled."""

    places: dict[tuple[str, int], int]
    copies: int


def allocate(
    machine: HvxMachine,
    insns: Sequence[Insn],
    times: Sequence[int],
    interval: int | None,
    edges: Edges = ALONE,
) -> Allocation | None:
    """Assign registers for a loop of `interval` (None: straight code); None if they do not fit."""
    values = _values(insns, times, interval)
    if interval is None:
        end = max(times, default=0) + 1
        for name, value in values.items():
            if name in edges.dying:
                value.born, value.dies = 0, max(value.dies, 1)
            if name in edges.lasting:
                value.dies = end
        places = _place(machine, values, 1, end)
        return Allocation(places, 1) if places is not None else None
    longest = max((v.dies - v.born for v in values.values() if v.born is not None), default=1)
    least = max(1, -(-longest // interval))
    for copies in range(least, least + UNROLLS):
        places = _place(machine, values, copies, interval)
        if places is not None:
            return Allocation(places, copies)
    return None


def _values(insns: Sequence[Insn], times: Sequence[int], interval: int | None) -> dict[str, Value]:
    values: dict[str, Value] = {}
    written: set[str] = set()
    throughout: set[str] = set()

    def note(base: str, part: int | None, kind: str) -> Value:
        value = values.setdefault(base, Value(kind))
        size = KIND_SIZE[kind] + (part or 0)
        if size > KIND_SIZE[value.kind]:
            value.kind = {2: "w" if kind in "vwz" else "s"}.get(size, "z")
        value.low |= kind == "l"
        return value

    for insn, time in zip(insns, times, strict=True):
        operation = insn.operation
        for letter, name in zip(operation.sources, insn.src, strict=True):
            base, part = split(name)
            value = note(base, part, operation.kinds[letter])
            early = base not in written
            value.dies = max(value.dies, time + (interval or 0) * early)
            if early and interval is None:
                throughout.add(base)
        if insn.dst:
            base, part = split(insn.dst)
            value = note(base, part, operation.kinds["d"])
            if operation.accumulates and base not in written:
                throughout.add(base)
            value.born = time if value.born is None else min(value.born, time)
            value.dies = max(value.dies, time + 1)
            written.add(base)
        throughout.update(split(name)[0] for name in (insn.address, insn.in_place) if name)
    for name in throughout:
        values[name].born = None
    return values


def _place(
    machine: HvxMachine, values: dict[str, Value], copies: int, interval: int
) -> dict[tuple[str, int], int] | None:
    circle = copies * interval
    all_slots = (1 << circle) - 1
    sizes = {"v": machine.registers, "r": SCALARS, "q": PREDICATES, "p": PREDICATES}
    files = {file: [0] * size for file, size in sizes.items()}
    places: dict[tuple[str, int], int] = {}

    def urgency(item: tuple[str, Value]) -> tuple[bool, bool, int, int]:
        value = item[1]
        return (value.born is not None, not value.low, -KIND_SIZE[value.kind], value.born or 0)

    for name, value in sorted(values.items(), key=urgency):
        if name == STACK:
            places[name, 0] = STACK_REGISTER
            continue
        size = KIND_SIZE[value.kind]
        registers = files[register_file(value.kind)]
        limit = LOW_SCALARS if value.low else len(registers)
        for copy in range(1 if value.born is None else copies):
            if value.born is None:
                arc = all_slots
            else:
                length = value.dies - value.born
                if length > circle:
                    return None
                mask, at = (1 << length) - 1, (value.born + copy * interval) % circle
                arc = (mask << at | mask << at >> circle) & all_slots
            first = _first_free(registers[:limit], arc, size)
            if first is None:
                return None
            for k in range(size):
                registers[first + k] |= arc
            places[name, copy] = first
    return places


def _first_free(registers: Sequence[int], arc: int, size: int) -> int | None:
    """Return the first of `size` neighbouring registers that are free along an arc."""
    for r in range(0, len(registers) - size + 1, size):
        if not any(map(arc.__and__, registers[r : r + size])):
            return r
    return None


def early_registers(insns: Sequence[Insn], edges: Edges) -> dict[str, int]:
    """Return the registers of each file that are read before written: occupied from the start."""
    written: set[str] = set()
    early: dict[str, dict[str, int]] = {file: {} for file in FILES}
    for insn in insns:
        operands = list(zip(insn.operation.sources, insn.src, strict=True))
        if insn.operation.accumulates:
            operands.append(("d", insn.dst))
        for letter, name in operands:
            base, part = split(name)
            kind = insn.operation.kinds[letter]
            if base not in written | edges.dying | {STACK}:
                sizes = early[register_file(kind)]
                sizes[base] = max(sizes.get(base, 0), KIND_SIZE[kind] + (part or 0))
        written.add(split(insn.dst)[0])
    return {file: sum(sizes.values()) for file, sizes in early.items()}


class Live:
    """Registers that live values occupy, per file, and their limits."""

    def __init__(self, g: DependenceGraph, edges: Edges, limits: Mapping[str, int]):
        self.limits = limits
        self.lasting = edges.lasting
        self.written: set[str] = set()
        self.readers: dict[str, set[int]] = {}
        self.sizes: dict[str, tuple[str, int]] = {}
        self.writes: list[set[str]] = []
        self.reads: list[set[str]] = []
        for n, node in enumerate(g.nodes):
            self.writes.append({split(g.insns[i].dst)[0] for i in node if g.insns[i].dst})
            self.reads.append({split(v)[0] for i in node for v in g.insns[i].src})
            for insn in (g.insns[i] for i in node):
                if insn.dst:
                    self._size(insn.dst, insn.operation.kinds["d"])
                for letter, value in zip(insn.operation.sources, insn.src, strict=True):
                    base = split(value)[0]
                    self.readers.setdefault(base, set()).add(n)
                    if base in edges.dying:
                        self._size(value, insn.operation.kinds[letter])
                        self.written.add(base)
        self.used = dict.fromkeys(FILES, 0)
        for base in self.written:
            self.used[self.sizes[base][0]] += self.sizes[base][1]

    def _size(self, value: str, kind: str) -> None:
        base, part = split(value)
        size = max(KIND_SIZE[kind] + (part or 0), self.sizes.get(base, ("", 0))[1])
        self.sizes[base] = (register_file(kind), size)

    def growth(self, n: int) -> dict[str, int]:
        """Return the registers that a node would occupy, less those that it frees."""
        grown: dict[str, int] = {}
        for base in self.writes[n] - self.written:
            if base in self.lasting or self.readers.get(base, set()) - {n}:
                file, size = self.sizes[base]
                grown[file] = grown.get(file, 0) + size
        for base in (self.reads[n] & self.written) - self.lasting:
            if self.readers[base] == {n}:
                file, size = self.sizes[base]
                grown[file] = grown.get(file, 0) - size
        return grown

    def fits(self, n: int) -> bool:
        """Tell whether a node stays within the limits, or occupies no further registers."""
        return all(
            grown <= 0 or self.used[file] + grown <= self.limits[file]
            for file, grown in self.growth(n).items()
        )

    def place(self, n: int) -> None:
        """Account for a node that has been issued."""
        for file, grown in self.growth(n).items():
            self.used[file] += grown
        self.written |= self.writes[n]
        for base in self.reads[n]:
            self.readers[base].discard(n)
