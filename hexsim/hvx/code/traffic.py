"""The memory accesses of a loop: bytes, and what its clocks do not contain."""

import re
from collections.abc import Iterator, Sequence

from hexsim.hvx.code.disassembly import CodePacket, Instruction
from hexsim.hvx.code.loops import CodeLoop
from hexsim.hvx.instruction_set import REGISTER
from hexsim.records import dataclass

_BYTES = {None: 0, "b": 1, "ub": 1, "h": 2, "uh": 2, "bh": 2, "ubh": 2, "w": 4, "d": 8}
VECTOR_BYTES = 128
_MEMORY = re.compile(
    r"\b(?P<vector>v?)mem(?P<unaligned>u(?=\())?(?P<size>b|ub|h|uh|bh|ubh|w|d)?(?:_\w+)?"
    r"\((?P<address>(?:[^()]|\([^()]*\))*)\)"
)
_TERM = re.compile(r"(?:(?P<base>[a-z]+\d*)(?:<<#(?P<shift>\w+))?|#+(?P<number>-?\w+))")


@dataclass(frozen=True)
class Access:
    """An access to memory: its address as it is written, and its bytes.

    `predicate` is the scalar register on which it depends, with "!" before it if it is inverted.
    """

    is_load: bool
    address: str
    size: int
    is_vector: bool = False
    is_unaligned: bool = False
    predicate: str = ""

    @property
    def terms(self) -> tuple[int, tuple[tuple[str, int], ...]] | None:
        """A number and registers with their shifts, whose sum it is; None if it has other terms."""
        number, registers = 0, []
        before = self.address.partition("++")[0].partition(":")[0].rpartition("=")[2]
        for text in before.split("+"):
            term = _TERM.fullmatch(text.strip())
            if term is None:
                return None
            if term["base"]:
                registers.append((term["base"], int(term["shift"] or "0", 0)))
            else:
                number += int(term["number"], 0) * (self.size if self.is_vector else 1)
        return number, tuple(registers)


def accesses(instruction: Instruction) -> Iterator[Access]:
    """Yield each access of an instruction to memory; gathers and scatters have none here."""
    text = instruction.text
    condition = re.match(r"if \((!?p\d)\)", text)
    for match in _MEMORY.finditer(text):
        yield Access(
            bool(re.search(r"=\s*$", text[: match.start()])),
            match["address"],
            VECTOR_BYTES if match["vector"] else _BYTES[match["size"]],
            bool(match["vector"]),
            bool(match["unaligned"]),
            condition[1] if condition else "",
        )


def moved_bytes(packets: Sequence[CodePacket]) -> tuple[int, int]:
    """Return the bytes that an iteration reads and writes."""
    read = written = 0
    for instruction in (i for packet in packets for i in packet.instructions):
        read += VECTOR_BYTES * ("vgather" in instruction.text)
        written += VECTOR_BYTES * ("vscatter" in instruction.text)
        for access in accesses(instruction):
            read += access.size * access.is_load
            written += access.size * (not access.is_load)
    return read, written


def is_scalar_fed(packets: Sequence[CodePacket]) -> bool:
    """Return whether vector multiplies take operands that scalar loads of the loop bring."""
    instructions = [i for packet in packets for i in packet.instructions]
    loaded = {
        name
        for i in instructions
        if re.search(r"= mem\w", i.text)
        for register in i.registers
        if register.writes is not None
        for name in register.names
        if name.startswith("r")
    }
    return any(
        name in loaded
        for i in instructions
        if i.description.of_class.pipes and i.description.of_class.pipes[0].multiply
        for register in i.registers
        if register.reads is not None
        for name in register.names
    )


def remarks(loop: CodeLoop) -> Iterator[str]:
    """Yield what the clocks of a loop do not contain, in sentences without their full stops."""
    texts = [i.text for packet in loop.packets for i in packet.instructions]
    if loop.skips:
        yield f"conditional jumps inside: {loop.skips}; the clocks are of the path that takes none"
    if loop.calls:
        yield f"calls inside: {loop.calls}; their clocks are not counted"
    if loop.inner:
        yield f"inner loops: {len(loop.inner)}; their packets are not among these"
    if any(i.is_gather for packet in loop.packets for i in packet.instructions):
        yield "gathers take 24 to 48 packets in VTCM (arXiv 2509.23324), of which 24 are counted"
    if any("vmemu" in text for text in texts):
        yield "unaligned vector accesses: one that crosses a vector takes its port twice"
    if is_scalar_fed(loop.packets):
        yield (
            "multiplies take operands from scalar loads, which sometimes wait for the L1 cache; "
            "only the clocks of threads contain this, as the software's stall factor (assumed)"
        )
    yield from _aliases(loop.packets)


def _aliases(packets: Sequence[CodePacket]) -> Iterator[str]:
    """Yield a remark on each load from the address of a store in this iteration or the last."""
    stored: dict[str, tuple[int, str]] = {}
    aliased: dict[str, tuple[int, str]] = {}
    for number, packet in enumerate((*packets, *packets)):
        for instruction in packet.instructions:
            for access in accesses(instruction):
                place = access.address
                if access.is_load and place in stored:
                    aliased[instruction.text] = (number - stored[place][0], stored[place][1])
                elif not access.is_load and "++" not in place and "vtmp" not in instruction.text:
                    stored[place] = (number, instruction.text)
        changed = {
            name
            for instruction in packet.instructions
            for register in instruction.registers
            if register.writes is not None
            for name in register.names
        }
        stored = {
            address: store
            for address, store in stored.items()
            if not changed & set(REGISTER.findall(address))
        }
    for load, (packets_before, store) in aliased.items():
        yield (
            f"{load} reads what {store} wrote {packets_before} packet{'s' * (packets_before > 1)} "
            "before; a load that meets a store in flight waits for it, which is not counted"
        )
