"""The memory accesses of a loop: bytes, and what its clocks do not contain."""

import re
from collections.abc import Iterator, Sequence

from hexsim.hvx.code.disassembly import CodePacket
from hexsim.hvx.code.loops import CodeLoop
from hexsim.hvx.code.memory import VECTOR_BYTES, accesses


def moved_bytes(packets: Sequence[CodePacket]) -> tuple[int, int]:
    """Return the bytes that an iteration reads and writes."""
    read = written = 0
    for instruction in (i for packet in packets for i in packet.instructions):
        read += VECTOR_BYTES * ("vgather" in instruction.text)
        written += VECTOR_BYTES * ("vscatter" in instruction.text)
        for access in accesses(instruction.text):
            read += access.size * access.is_load
            written += access.size * (not access.is_load)
    return read, written


def is_scalar_fed(packets: Sequence[CodePacket]) -> bool:
    """Return whether vector multiplies take operands that scalar loads of the loop bring."""
    instructions = [i for packet in packets for i in packet.instructions]
    loads = (i for i in instructions if re.search(r"= mem\w", i.text))
    loaded = {n for i in loads for r in i.registers if r.writes is not None for n in r.names}
    return any(
        name in loaded and name.startswith("r")
        for i in instructions
        if i.description.of_class.pipes and i.description.of_class.pipes[0].multiply
        for register in i.registers
        if register.reads is not None
        for name in register.names
    )


def uses_vectors(packets: Sequence[CodePacket]) -> bool:
    """Return whether packets need a vector context."""
    classes = (i.description.of_class for packet in packets for i in packet.instructions)
    return any(of_class.pipes or of_class.port for of_class in classes)


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
        yield (
            "gathers and scatters are counted without conflicts of banks, 2 packets each and 24 to "
            "a load of what is gathered; with random addresses they take 6 and 48 (manual of V73)"
        )
    if any("vmemu" in text for text in texts):
        yield "unaligned vector accesses: one that crosses a vector takes its port twice"
    if is_scalar_fed(loop.packets):
        yield (
            "multiplies take operands from scalar loads, which sometimes wait for the L1 cache; of "
            "a DSP the clocks of threads contain this, as its software's stall factor (assumed)"
        )
