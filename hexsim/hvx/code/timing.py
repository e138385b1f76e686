"""When the packets of code issue on one thread, and what each of them waits for.

Packets issue in order, one per slot. A packet whose operand is not ready waits in empty slots
(stalls). `latency` of `hexsim.hvx.isa` gives the packets between a result and its reader from the
clocks of LLVM's table; where the table states none, a result is ready for the next packet. Values
pass within a packet without a wait by `.new`, `.cur` and `.tmp`. In a loop the first packets of an
iteration wait for results of the one before; iterations are issued until they repeat.

A vector load waits for a store or a gather to its address, if both write the address in the same
words.

Left out: waits for memory otherwise (a load is taken to find its data, documented for a vector
queue that is full), and mispredicted jumps.
"""

from collections.abc import Collection, Sequence
from typing import Any

from hexsim.hvx.code.disassembly import CodePacket, Instruction
from hexsim.hvx.instruction_set import REGISTER
from hexsim.hvx.isa import ADDRESS_READ, EARLY_READ, LATE_READ, latency
from hexsim.records import dataclass

MOST_ITERATIONS = 12
"""Iterations until a loop has its steady state; longer than any chain of stalls takes."""


@dataclass(frozen=True)
class Issue:
    """The slot of a packet, counted from the first; `stall` slots before it are empty.

    `register` is the operand that it waits for and `writer` the instruction that makes it.
    """

    slot: int
    stall: int = 0
    register: str = ""
    writer: str = ""
    reader: str = ""

    @property
    def cause(self) -> str:
        """What the packet waits for, in words; "" if it does not wait."""
        if not self.stall:
            return ""
        return f"{self.reader} waits for {self.register} of {self.writer}"


Pending = tuple[tuple[str, int, int], ...]


@dataclass(frozen=True)
class _Written:
    slot: int
    clock: int
    text: str


def waits_of(written: int, read: int) -> int:
    """Return the slots from the packet of a result to that of its reader."""
    return latency(written, read) if written and read else 1


def forwarded(packet: CodePacket) -> set[str]:
    """Return the registers that loads of a packet pass to its other instructions."""
    return {
        name
        for instruction in packet.instructions
        for register in instruction.registers
        if register.forwarded in ("cur", "tmp")
        for name in register.names
    }


def address_registers(name: str) -> set[str]:
    """Return the registers in the address of a place in memory; none for what is no place."""
    return set(REGISTER.findall(name)) if name[0] in "[(" else set()


def forget_places(written: dict[str, Any], made: Collection[str]) -> None:
    """Leave out the places in memory whose address is no longer the same."""
    for name in [n for n in written if not address_registers(n).isdisjoint(made)]:
        del written[name]


class Thread:
    """One thread that issues packet after packet; `pending` is that of another one before it."""

    def __init__(self, pending: Pending = ()) -> None:
        self.slot = -1
        self._written = {name: _Written(-1 - age, clock, "") for name, age, clock in pending}

    @property
    def pending(self) -> Pending:
        """The results for which a later packet may still wait: name, age in slots, clock."""
        return tuple(
            sorted(
                (name, self.slot - written.slot, written.clock)
                for name, written in self._written.items()
                if self.slot + 1 < written.slot + waits_of(written.clock, ADDRESS_READ)
            )
        )

    def issue(self, packet: CodePacket) -> Issue:
        """Issue a packet, and return when and after which wait."""
        earliest = self.slot + 1
        here = Issue(earliest)
        inside = forwarded(packet)
        for instruction in packet.instructions:
            for register in instruction.registers:
                if register.reads is None or register.forwarded == "new":
                    continue
                for name in set(register.names) - inside:
                    writer = self._written.get(name)
                    ready = writer and writer.slot + waits_of(writer.clock, register.reads)
                    if writer and ready and ready > here.slot:
                        role = "load" if name[0] == "[" else reading(instruction, register.reads)
                        here = Issue(ready, ready - earliest, name, writer.text, role)
        self.slot = here.slot
        made: set[str] = set()
        for instruction in packet.instructions:
            for register in instruction.registers:
                if register.writes is not None and register.forwarded != "tmp":
                    written = _Written(self.slot, register.writes, instruction.text)
                    self._written |= dict.fromkeys(register.names, written)
                    made.update(register.names)
        forget_places(self._written, made)
        return here


class Issuer:
    """The issue of packets in whatever order a program executes them.

    Results that are still pending after a packet are a state, which has a number; number 0 has
    none. As states return, each is worked out only once for each packet that follows it.
    """

    def __init__(self) -> None:
        self._numbers: dict[Pending, int] = {(): 0}
        self._pending: list[Pending] = [()]
        self._steps: dict[tuple[int, int], tuple[int, int]] = {}

    def issue(self, state: int, packet: CodePacket) -> tuple[int, int]:
        """Return the state after a packet, and the empty slots before it."""
        step = self._steps.get((state, packet.address))
        if step is None:
            thread = Thread(self._pending[state])
            stall = thread.issue(packet).stall
            after = thread.pending
            number = self._numbers.setdefault(after, len(self._pending))
            if number == len(self._pending):
                self._pending.append(after)
            step = self._steps[state, packet.address] = (number, stall)
        return step


def reading(instruction: Instruction, clock: int) -> str:
    """Return which unit reads an operand in a clock."""
    if clock == LATE_READ:
        return "vector ALU"
    if clock == EARLY_READ and instruction.description.of_class.pipes:
        pipes = instruction.description.of_class.pipes[0]
        return "multiplier" if pipes.multiply else "permute unit" if pipes.permute else "shifter"
    if instruction.is_gather:
        return "gather"
    return "address" if "mem" in instruction.text else "scalar unit"


def straight(packets: Sequence[CodePacket]) -> tuple[Issue, ...]:
    """Return the issue of packets that run once."""
    thread = Thread()
    return tuple(map(thread.issue, packets))


def steady(packets: Sequence[CodePacket]) -> tuple[Issue, ...]:
    """Return the issue of the packets of a loop in its steady state; slots count from the first.

    The first packet has the wait after the last one of the iteration before it.
    """
    thread = Thread()
    before: list[tuple[int, int]] = []
    issues: list[Issue] = []
    for _ in range(MOST_ITERATIONS):
        issues = [thread.issue(packet) for packet in packets]
        shape = [(issue.slot - issues[0].slot, issue.stall) for issue in issues]
        if shape == before:
            break
        before = shape
    first = issues[0].slot - issues[0].stall
    return tuple(
        Issue(issue.slot - first, issue.stall, issue.register, issue.writer, issue.reader)
        for issue in issues
    )


def slots(issues: Sequence[Issue]) -> int:
    """Return the slots of an iteration, stalls included."""
    return len(issues) + sum(issue.stall for issue in issues)
