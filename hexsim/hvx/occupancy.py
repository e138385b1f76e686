"""Where the instructions of a packet go: one slot each, and the vector pipes they fill.

`packets.fits` says whether an assignment exists; this file finds one, for people to look at. Pipes
that an instruction of an earlier packet still fills (machines with fewer pipes than an instruction
wants) are left out.
"""

from __future__ import annotations

from collections.abc import Sequence

from hexsim.hvx.isa import HvxMachine, InstructionClass, Pipes
from hexsim.hvx.packets import SLOTS, Packet


def slots(machine: HvxMachine, packet: Packet) -> str:
    """The slots in use, e.g. "01.3"."""
    classes = [insn.instruction_class(machine) for insn in packet.insns]
    used = _slots(sorted(classes, key=lambda c: len(c.slots)), frozenset()) or frozenset()
    return "".join(str(slot) if slot in used else "." for slot in range(SLOTS))


def pipes(machine: HvxMachine, packet: Packet) -> str:
    """The pipes in use: P permute, S shift, M multiply, e.g. ".SM."."""
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
    first, *rest = classes
    for slot in first.slots:
        if slot not in used:
            found = _slots(rest, used | {slot})
            if found is not None:
                return found
    return None


def _pipes(machine: HvxMachine, needs: Sequence[tuple[Pipes, ...]], used: Pipes) -> Pipes | None:
    if used.permute > machine.permute_pipes or used.shift > machine.shift_pipes:
        return None
    if used.multiply > machine.multiply_pipes:
        return None
    if not needs:
        return used
    for wanted in needs[0]:
        multiplies = min(wanted.multiply, machine.multiply_pipes)
        more = Pipes(
            used.permute + wanted.permute, used.shift + wanted.shift, used.multiply + multiplies
        )
        found = _pipes(machine, needs[1:], more)
        if found is not None:
            return found
    return None
