"""Assigns real registers to the values of a schedule.

A loop whose values live longer than its interval is unrolled (modulo variable expansion): copy k
of the body uses other registers than copy k-1. Lifetimes are arcs on the circle of the unrolled
loop and take the first register that is free along the arc; reads precede writes within a packet.
A schedule whose values do not fit is rejected, because spills are not modelled.
"""

from collections.abc import Sequence
from dataclasses import dataclass

from hexsim.hvx.isa import HvxMachine
from hexsim.hvx.packets import KIND_SIZE, Insn, split

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
    """Return the lifetime of every value."""
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
