"""The resources of a packet and the latencies of results, as data of a machine.

A packet is one VLIW bundle: up to four instructions in slots 0-3. Beside a slot, a vector
instruction needs vector pipes (permute, shift, two multiplies), and at most one vector load and one
vector store share a packet. A thread in vector work issues one packet every two clocks, so
latencies are counted in packets.

Slots, pipes and operand times are those of the tables behind Debian's llvm 19
(`instruction_set.csv`), which agree in structure with the packing and latency rules in the Hexagon
V6x HVX programmer's manuals (documented); a class of our own streams is that of the first of its
instructions. Of a dot product that is added to vectors LLVM charges two pipes before V69, where the
V6x manual's note says one. Two of the two-stream dot products share a packet in the assembler and
in real V65 kernels, but only without shifts and permutes beside them (tried with llvm-mc). Operand
times are LLVM's clock numbers: a vector result is ready in clock 9; early sources (multiplier,
shifter, permute inputs) are read in clock 5, late ones (ALU inputs, accumulators, aligned store
data) in clock 7. On a machine with fewer multiply pipes than an instruction needs, it occupies them
for further packets. Left out: constant extenders, duplexes, memory ordering, the clocks of memory
itself.
"""

from enum import StrEnum
from functools import cache, cached_property
from typing import Any

from hexsim.hvx.instruction_set import FIRST_VERSION, Operand, all_units, key, row_of
from hexsim.hvx.instructions import OPERATIONS
from hexsim.records import dataclass, field, replace

ADDRESS_READ = 1  # clock; addresses, scalar multiplier inputs
SCALAR_READ = 2  # clock; scalar ALU inputs and scalars fed to the vector unit
EARLY_READ = 5  # clock; multiplier, shift and permute inputs, unaligned store data
LATE_READ = 7  # clock; vector ALU inputs, accumulators, aligned store data
SCALAR_RESULT = 3  # clock; scalar ALU, post-incremented addresses
VECTOR_RESULT = 9  # clock; every vector result, vector loads included
EXTRACT_RESULT = 31  # clock; vector register to scalar register, 15 packets (documented)


def latency(written: int, read: int) -> int:
    """Packets between a producer and a consumer: 1 is the very next packet."""
    return max(1, (written - read + 1) // 2)


@dataclass(frozen=True)
class Pipes:
    """Vector pipes of each kind taken together by one instruction."""

    permute: int = 0
    shift: int = 0
    multiply: int = 0


class Port(StrEnum):
    """A resource that one instruction in a packet may use, or as many as the machine has ports."""

    VECTOR_LOAD = "vector load"
    VECTOR_STORE = "vector store"
    Z_LOAD = "Z load"  # the load of the Z register has a path of its own
    PREFETCH = "prefetch"


@dataclass(frozen=True)
class InstructionClass:
    """Resources of one class of instructions.

    slots: those it may use. pipes: the alternatives, empty if it needs none. blocks_slot1: an
    unaligned vector access in slot 0 keeps slot 1 empty. solo: alone in its packet. excludes:
    classes the assembler refuses beside it. reads: the clock in which ordinary sources are read
    (accumulators are always late). writes: the clock of the result.
    """

    name: str
    slots: tuple[int, ...]
    pipes: tuple[Pipes, ...] = ()
    port: Port | None = None
    blocks_slot1: bool = False
    solo: bool = False
    excludes: tuple[str, ...] = ()
    reads: int = LATE_READ
    writes: int = VECTOR_RESULT


_PORTS = {"load": Port.VECTOR_LOAD, "store": Port.VECTOR_STORE, "Z": Port.Z_LOAD}
VERSIONS = (60, 62, 65, 66)
"""Those for which our own kernels are scheduled."""
_SINCE = {"Z load": 66, "Z dot": 66}
_SINCE |= dict.fromkeys(("gather", "gather pair", "scatter", "two-stream dot"), 65)
"""The first version of a class; the table has units of some instructions before they exist."""
_CHANGED: dict[str, dict[str, Any]] = {
    "extract": {"writes": EXTRACT_RESULT},
    "histogram": {"reads": EARLY_READ},  # its operands are not in its text
    # Ready for the next packet (inferred): the hand-written loop of Hexagon NN reloads Z every four
    # packets, all of them Z dots, so a longer latency would stall it.
    "Z load": {"writes": LATE_READ},
    "frame": {"excludes": ("vector store", "scatter", "frame", "prefetch")},
    # The assembler refuses a second one.
    "prefetch": {"port": Port.PREFETCH, "excludes": ("scalar store",)},
    "box prefetch": {"solo": True},  # not packed with anything, as in the kernels of Hexagon NN
}
"""What our classes have otherwise than the table, or beside it."""


@dataclass(frozen=True)
class Description:
    """What the table says of an instruction: its class, and the registers in its text, in order."""

    of_class: InstructionClass
    operands: tuple[Operand, ...]


def described(text: str, version: int) -> Description | None:
    """Return what the table says of an instruction on a version; None for an unknown one."""
    row = row_of(key(text), version)
    return None if row is None else _description(*row[1:])


@cache
def _description(*row: str) -> Description:
    *units, operands = row
    return Description(_class_of(*units), tuple(map(Operand.parse, operands.split())))


@cache
def _class_of(slots: str, pipes: str, port: str, solo: str) -> InstructionClass:
    own, _, blocked = slots.partition("+")
    return InstructionClass(
        " ".join(filter(None, (slots, pipes, port, solo))),
        tuple(map(int, own)),
        tuple(_pipes(choice) for choice in pipes.split("|")) if pipes else (),
        _PORTS.get(port),
        blocks_slot1=bool(blocked),
        solo=bool(solo),
    )


def _pipes(letters: str) -> Pipes:
    return Pipes(letters.count("P"), letters.count("S"), letters.count("M"))


@cache
def _own_classes(version: int) -> dict[str, InstructionClass]:
    """Return the classes of our own streams; each is that of its first instruction."""
    classes: dict[str, InstructionClass] = {}
    for operation in OPERATIONS.values():
        name, row = operation.of_class, row_of(operation.key, version)
        if row and name not in classes and version >= _SINCE.get(name, FIRST_VERSION):
            known = _description(*row[1:])
            sources = [each.reads for each in known.operands if each.reads and not each.writes]
            addresses = [each.reads for each in known.operands if each.reads]
            results = [each.writes for each in known.operands if each.writes]
            figures = {
                "reads": max(sources or addresses, default=LATE_READ),
                "writes": max(results, default=VECTOR_RESULT),
            }
            changed = {"name": name, **figures, **_CHANGED.get(name, {})}
            classes[name] = replace(known.of_class, **changed)
    return classes


@dataclass(frozen=True)
class HvxMachine:
    """The vector unit of one hardware thread.

    version: architecture (60, 62, 65, 66). vector_bytes: width of a vector register.
    *_pipes, *_ports: how many of each a packet may use. registers: vector registers.
    """

    version: int
    vector_bytes: int = 128
    permute_pipes: int = 1
    shift_pipes: int = 1
    multiply_pipes: int = 2
    load_ports: int = 1
    store_ports: int = 1
    registers: int = 32
    classes: dict[str, InstructionClass] = field(init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "classes", _own_classes(self.version))

    @property
    def lanes(self) -> int:
        """Number of 32-bit accumulators in one vector."""
        return self.vector_bytes // 4

    def alternatives(self, of_class: InstructionClass) -> tuple[Pipes, ...]:
        """Return the pipe combinations of a class that take this machine the fewest packets."""
        fewest = self.further_packets(of_class)
        return tuple(p for p in of_class.pipes if self._further(p) == fewest)

    def further_packets(self, of_class: InstructionClass) -> int:
        """Return the packets after its own in which an instruction occupies the multiply pipes."""
        return self._further_packets[of_class.name]

    @cached_property
    def _further_packets(self) -> dict[str, int]:
        return {
            name: min((self._further(p) for p in of_class.pipes), default=0)
            for name, of_class in self.classes.items()
        }

    def _further(self, pipes: Pipes) -> int:
        return max(0, -(-pipes.multiply // self.multiply_pipes) - 1)

    def ports(self, port: Port) -> int:
        """Return the number of instructions that may use a port in one packet."""
        return {Port.VECTOR_LOAD: self.load_ports, Port.VECTOR_STORE: self.store_ports}.get(port, 1)


@dataclass(frozen=True)
class CodeMachine(HvxMachine):
    """A vector unit whose classes are those of the whole instruction set."""

    classes: dict[str, InstructionClass] = field(init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        classes = (_class_of(*each) for each in sorted(all_units()))
        object.__setattr__(self, "classes", {of_class.name: of_class for of_class in classes})
