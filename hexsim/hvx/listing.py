"""Schedules for display: as Hexagon assembly, and as the slots and vector pipes of each packet.

Prints schedules as Hexagon assembly, one text per packet.

Assigns the instructions of a packet to slots and vector pipes, for display.

`hexsim.hvx.packets` finds the assignment. Left out: pipes that an instruction of an earlier packet
still occupies (on machines with few pipes).
"""

from collections.abc import Sequence

from hexsim.hvx.isa import HvxMachine, InstructionClass
from hexsim.hvx.modulo import Loop
from hexsim.hvx.packets import KIND_SIZE, NO_PIPES, SLOTS, Insn, pipes_of, slots_of, split
from hexsim.hvx.registers import Allocation, allocate
from hexsim.hvx.scheduling import Straight


def straight_asm(code: Straight) -> tuple[str, ...]:
    """Return the packets of straight code."""
    allocation = allocate(code.machine, code.insns, code.times, None, code.edges)
    assert allocation is not None  # the scheduler saw to it
    return _text(code.insns, code.times, allocation, None)


def loop_asm(loop: Loop) -> tuple[str, ...]:
    """Return the packets of a loop, unrolled as its registers require."""
    allocation = allocate(loop.machine, loop.insns, loop.times, loop.interval)
    assert allocation is not None  # the scheduler saw to it
    return _text(loop.insns, loop.times, allocation, loop.interval)


def _text(
    insns: Sequence[Insn], times: Sequence[int], allocation: Allocation, interval: int | None
) -> tuple[str, ...]:
    rows: dict[int, list[str]] = {}
    written: set[str] = set()
    places, copies = allocation.places, allocation.copies
    for insn, time in zip(insns, times, strict=True):
        for copy in range(copies):
            names = {}
            operands = list(zip(insn.operation.sources, insn.src, strict=True))
            if insn.dst:
                operands.append(("d", insn.dst))
            for letter, value in operands:
                base, part = split(value)
                before = letter != "d" and base not in written
                which = (copy - before) % copies if (base, 1) in places else 0
                first = places[base, which] + (part or 0)
                names[letter] = _register(insn.operation.kinds[letter], first)
            slot = time if interval is None else (time + copy * interval) % (copies * interval)
            rows.setdefault(slot, []).append(insn.text(names))
        if insn.dst:
            written.add(split(insn.dst)[0])
    return tuple("{ " + "\n  ".join(rows[slot]) + " }" for slot in sorted(rows))


def _register(kind: str, first: int) -> str:
    letter = {"v": "v", "w": "v", "z": "v", "q": "q", "p": "p"}.get(kind, "r")
    size = KIND_SIZE[kind]
    return f"{letter}{first + size - 1}:{first}" if size > 1 else f"{letter}{first}"


def slots(classes: Sequence[InstructionClass]) -> str:
    """Return the slots that the instructions of a packet use, e.g. "01.3"."""
    used = slots_of(classes) or ()
    return "".join(str(slot) if slot in used else "." for slot in range(SLOTS))


def pipes(machine: HvxMachine, classes: Sequence[InstructionClass]) -> str:
    """Return the pipes that they use: P permute, S shift, M multiply, e.g. ".SM."."""
    used = pipes_of(machine, classes) or NO_PIPES
    kinds = (
        ("P", used.permute, machine.permute_pipes),
        ("S", used.shift, machine.shift_pipes),
        ("M", used.multiply, machine.multiply_pipes),
    )
    return "".join((letter * count).ljust(total, ".") for letter, count, total in kinds)
