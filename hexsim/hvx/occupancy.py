"""Assigns the instructions of a packet to slots and vector pipes, for display.

`packets.fits` decides whether an assignment exists; this file finds one. Left out: pipes
that an instruction of an earlier packet still occupies (on machines with few pipes).
"""

from collections.abc import Sequence

from hexsim.hvx.isa import HvxMachine, InstructionClass, Pipes
from hexsim.hvx.packets import SLOTS, Packet


def slots(machine: HvxMachine, packet: Packet) -> str:
    """Return the slots in use, e.g. "01.3"."""
    classes = [insn.instruction_class(machine) for insn in packet.insns]
    used = _slots(sorted(classes, key=lambda c: len(c.slots)), frozenset()) or frozenset()
    return "".join(str(slot) if slot in used else "." for slot in range(SLOTS))


def pipes(machine: HvxMachine, packet: Packet) -> str:
    """Return the pipes in use: P permute, S shift, M multiply, e.g. ".SM."."""
    needs = [
        machine.alternatives(c)
        for c in (insn.instruction_class(machine) for insn in packet.insns)
        if c.pipes
    ]
    used = _pipes(machine, sorted(needs, key=len), Pipes()) or Pipes()
    kinds = (
        ("P", used.permute, machine.permute_pipes),
        ("S", used.shift, machine.shift_pipes),
        ("M", used.multiply, machine.multiply_pipes),
    )
    return "".join((letter * count).ljust(total, ".") for letter, count, total in kinds)


def _slots(classes: Sequence[InstructionClass], used: frozenset[int]) -> frozenset[int] | None:
    if not classes:
        return used
    first, *others = classes
    for slot in first.slots:
        if slot not in used:
            assignment = _slots(others, used | {slot})
            if assignment is not None:
                return assignment
    return None


def _pipes(machine: HvxMachine, needs: Sequence[tuple[Pipes, ...]], used: Pipes) -> Pipes | None:
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
