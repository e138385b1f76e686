"""The memory accesses of a loop: bytes, and what its clocks do not contain."""

import re
from collections.abc import Iterator, Sequence

from hexsim.hvx.code.disassembly import CodePacket, Instruction
from hexsim.hvx.code.loops import CodeLoop
from hexsim.hvx.instruction_set import REGISTER

_BYTES = {None: 0, "b": 1, "ub": 1, "h": 2, "uh": 2, "bh": 2, "ubh": 2, "w": 4, "d": 8}
_VECTOR_BYTES = 128
_MEMORY = re.compile(
    r"\b(?P<vector>v?)mem(?:u(?=\())?(?P<size>b|ub|h|uh|bh|ubh|w|d)?(?:_\w+)?"
    r"\((?P<address>(?:[^()]|\([^()]*\))*)\)"
)


def accesses(instruction: Instruction) -> Iterator[tuple[bool, str]]:
    """Yield whether an instruction loads, and from which address, for each access to memory."""
    for match in _MEMORY.finditer(instruction.text):
        yield bool(re.search(r"=\s*$", instruction.text[: match.start()])), match["address"]


def moved_bytes(packets: Sequence[CodePacket]) -> tuple[int, int]:
    """Return the bytes that an iteration reads and writes."""
    read = written = 0
    for instruction in (i for packet in packets for i in packet.instructions):
        text = instruction.text
        read += _VECTOR_BYTES * ("vgather" in text)
        written += _VECTOR_BYTES * ("vscatter" in text)
        sizes = [
            _VECTOR_BYTES if match["vector"] or text.startswith("z ") else _BYTES[match["size"]]
            for match in _MEMORY.finditer(text)
        ]
        for size, (is_load, _) in zip(sizes, accesses(instruction), strict=True):
            read, written = (read + size, written) if is_load else (read, written + size)
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
    if any("vgather" in text or "vscatter" in text for text in texts):
        yield (
            "gathers and scatters are taken to issue as loads and stores; their time in VTCM is "
            "not counted: 24 to 48 packets for a gather on V75 (arXiv 2509.23324)"
        )
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
            for is_load, address in accesses(instruction):
                if is_load and address in stored:
                    aliased[instruction.text] = (number - stored[address][0], stored[address][1])
                elif not is_load and "++" not in address:
                    stored[address] = (number, instruction.text)
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
