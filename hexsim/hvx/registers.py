"""Real registers for the values of a schedule, and with them its assembly text.

A loop whose values live longer than its interval is unrolled (modulo variable expansion): copy k
of the body uses other registers than copy k-1. Lifetimes are arcs on the circle of the unrolled
loop and take the first register free along the arc; reads precede writes within a packet.

Raises HexsimError if the values do not fit the register file: the schedule would need spills, which
we do not model.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from hexsim.errors import HexsimError
from hexsim.hvx.isa import Machine
from hexsim.hvx.modulo import Loop
from hexsim.hvx.packets import KIND_SIZE, Insn, split
from hexsim.hvx.scheduling import Straight

SCALARS = 28  # r0-r27; r28 is scratch, r29-r31 belong to the call
LOW_SCALARS = 8  # r0-r7, the only ones some vector instructions take
PREDICATES = 4
UNROLLS = 6  # unroll factors tried beyond the least one


@dataclass
class _Value:
    """kind: register kind of the whole value; born, dies: slots; always: lives through the loop."""

    kind: str
    born: int | None = None
    dies: int = 0
    low: bool = False

    @property
    def always(self) -> bool:
        return self.born is None


def straight_asm(code: Straight) -> tuple[str, ...]:
    """Assembly of each packet of straight code."""
    values = _values(code.insns, code.times, 0)
    end = code.length
    for value in values.values():
        value.dies = max(value.dies, end if value.dies == 0 else value.dies)
    places = _place(code.machine, values, 1, max(end, 1))
    if places is None:
        raise HexsimError(f"straight code of {len(code.insns)} instructions: too few registers")
    return _text(code.insns, code.times, places, 1, max(end, 1), fold=False)


def loop_asm(loop: Loop) -> tuple[str, ...]:
    """Assembly of each packet of the loop, unrolled as its registers demand."""
    values = _values(loop.insns, loop.times, loop.interval)
    longest = max((v.dies - v.born for v in values.values() if v.born is not None), default=1)
    least = max(1, -(-longest // loop.interval))
    for unroll in range(least, least + UNROLLS):
        places = _place(loop.machine, values, unroll, loop.interval)
        if places is not None:
            return _text(loop.insns, loop.times, places, unroll, loop.interval, fold=True)
    raise HexsimError(
        f"loop of {len(loop.insns)} instructions at interval {loop.interval}: "
        f"its values need more than {loop.machine.registers} vector registers; emit a smaller body"
    )


def _values(insns: Sequence[Insn], times: Sequence[int], interval: int) -> dict[str, _Value]:
    """Lifetime of every value; `interval` 0 for straight code."""
    found: dict[str, _Value] = {}
    written: set[str] = set()
    carried: set[str] = set()

    def note(name: str, kind: str) -> _Value:
        base, part = split(name)
        known = found.setdefault(base, _Value(kind))
        size = KIND_SIZE[kind] + (part or 0)
        if size > KIND_SIZE[known.kind]:
            known.kind = {2: "w" if kind in "vwz" else "s", 3: "z", 4: "z"}[size]
        known.low |= kind == "l"
        return known

    for insn, time in zip(insns, times, strict=True):
        for letter, name in zip(insn.operation.sources, insn.src, strict=True):
            value = note(name, insn.operation.kinds[letter])
            late = split(name)[0] not in written
            value.dies = max(value.dies, time + (interval if late else 0))
            if late:
                carried.add(split(name)[0])
        if insn.dst:
            value = note(insn.dst, insn.operation.kinds["d"])
            base = split(insn.dst)[0]
            if insn.operation.accumulates and base not in written:
                carried.add(base)
            elif not insn.operation.accumulates:
                value.born = time if value.born is None else min(value.born, time)
            value.dies = max(value.dies, time + 1)
            written.add(base)
        if insn.address:
            found[split(insn.address)[0]].born = None
            written.discard(split(insn.address)[0])
    for value in found.values():
        if value.born is not None:
            value.dies = max(value.dies, value.born + 1)
    return found


def _place(
    machine: Machine, values: dict[str, _Value], unroll: int, interval: int
) -> dict[tuple[str, int], int] | None:
    """First register of each (value, copy), or None if they do not fit."""
    circle = unroll * interval
    every = (1 << circle) - 1
    files = {
        "vwz": [0] * machine.registers,
        "rsl": [0] * SCALARS,
        "q": [0] * PREDICATES,
    }
    places: dict[tuple[str, int], int] = {}

    def urgency(item: tuple[str, _Value]) -> tuple[bool, bool, int, int]:
        value = item[1]
        return (not value.always, not value.low, -KIND_SIZE[value.kind], value.born or 0)

    for name, value in sorted(values.items(), key=urgency):
        size = KIND_SIZE[value.kind]
        registers = files[next(kinds for kinds in files if value.kind in kinds)]
        limit = LOW_SCALARS if value.low else len(registers)
        for copy in range(1 if value.always else unroll):
            if value.born is None:
                arc = every
            else:
                length = value.dies - value.born
                if length > circle:
                    return None
                mask, at = (1 << length) - 1, (value.born + copy * interval) % circle
                arc = (mask << at | mask << at >> circle) & every
            fit = (
                r
                for r in range(0, limit - size + 1, size)
                if not any(registers[r + k] & arc for k in range(size))
            )
            first = next(fit, None)
            if first is None:
                return None
            for k in range(size):
                registers[first + k] |= arc
            places[name, copy] = first
    return places


def _text(
    insns: Sequence[Insn],
    times: Sequence[int],
    places: dict[tuple[str, int], int],
    unroll: int,
    interval: int,
    fold: bool,
) -> tuple[str, ...]:
    rows: dict[int, list[str]] = {}
    written: set[str] = set()
    for insn, time in zip(insns, times, strict=True):
        for copy in range(unroll):
            names = {}
            operands = list(zip(insn.operation.sources, insn.src, strict=True))
            if insn.dst:
                operands.append(("d", insn.dst))
            for letter, value in operands:
                base, part = split(value)
                before = letter != "d" and base not in written
                which = (copy - before) % unroll if (base, 1) in places else 0
                first = places[base, which] + (part or 0)
                names[letter] = _register(insn.operation.kinds[letter], first)
            slot = (time + copy * interval) % (unroll * interval) if fold else time
            rows.setdefault(slot, []).append(insn.text(names))
        if insn.dst:
            written.add(split(insn.dst)[0])
    return tuple("{ " + "\n  ".join(rows[slot]) + " }" for slot in sorted(rows))


def _register(kind: str, first: int) -> str:
    letter = {"v": "v", "w": "v", "z": "v", "q": "q"}.get(kind, "r")
    size = KIND_SIZE[kind]
    return f"{letter}{first + size - 1}:{first}" if size > 1 else f"{letter}{first}"
