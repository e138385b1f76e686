"""The resources of a packet and the latencies of results, as data of a machine.

A packet is one VLIW bundle: up to four instructions in slots 0-3. Beside a slot, a vector
instruction needs vector pipes (permute, shift, two multiplies), and at most one vector load and one
vector store share a packet. A thread in vector work issues one packet every two clocks, so
latencies are counted in packets.

Slots, pipes and operand times of the classes are those of the tables behind Debian's llvm 19, which
agree in structure with the packing and latency rules in the Hexagon V6x HVX programmer's manuals
(documented). Operand times are LLVM's clock numbers: a vector result is ready in clock 9; early
sources (multiplier, shifter, permute inputs) are read in clock 5, late ones (ALU inputs,
accumulators, aligned store data) in clock 7. On a machine with fewer multiply pipes than an
instruction needs, it occupies them for further packets. Left out: constant extenders, duplexes,
memory ordering, the clocks of memory itself.
"""

from enum import StrEnum
from functools import cached_property

from hexsim.records import dataclass, field

ADDRESS_READ = 1  # clock; addresses, scalar multiplier inputs
SCALAR_READ = 2  # clock; scalar ALU inputs and scalars fed to the vector unit
EARLY_READ = 5  # clock; multiplier, shift and permute inputs, unaligned store data
LATE_READ = 7  # clock; vector ALU inputs, accumulators, aligned store data
SCALAR_RESULT = 3  # clock; scalar ALU, post-incremented addresses
SCALAR_LONG_RESULT = 4  # clock; scalar loads and multiplies
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


PERMUTE = Pipes(permute=1)
SHIFT = Pipes(shift=1)
MULTIPLY = Pipes(multiply=1)
MULTIPLY_PAIR = Pipes(multiply=2)
CROSS_LANE_PAIR = Pipes(permute=1, shift=1)
ANY_PIPE = (PERMUTE, SHIFT, MULTIPLY)
ANY_PAIR = (CROSS_LANE_PAIR, MULTIPLY_PAIR)


class Port(StrEnum):
    """A resource that one instruction in a packet may use, or as many as the machine has ports."""

    VECTOR_LOAD = "vector load"
    VECTOR_STORE = "vector store"
    Z_LOAD = "Z load"  # the load of the Z register has a path of its own
    PREFETCH = "prefetch"


ALL_SLOTS = (0, 1, 2, 3)


@dataclass(frozen=True)
class InstructionClass:
    """Resources of one class of instructions.

    slots: those it may use. pipes: the alternatives, empty if it needs none. blocks_slot1: an
    unaligned vector access in slot 0 keeps slot 1 empty. solo: alone in its packet. excludes:
    classes the assembler refuses beside it. reads: the clock in which ordinary sources are read
    (accumulators are always late). writes: the clock of the result.
    """

    name: str
    slots: tuple[int, ...] = ALL_SLOTS
    pipes: tuple[Pipes, ...] = ()
    port: Port | None = None
    blocks_slot1: bool = False
    solo: bool = False
    excludes: tuple[str, ...] = ()
    reads: int = LATE_READ
    writes: int = VECTOR_RESULT


def _classes(*members: InstructionClass) -> dict[str, InstructionClass]:
    return {member.name: member for member in members}


BASE_CLASSES = _classes(
    InstructionClass("alu", pipes=ANY_PIPE),
    InstructionClass("alu pair", pipes=ANY_PAIR),
    InstructionClass("saturate", pipes=ANY_PIPE),
    InstructionClass("multiply", (2, 3), (MULTIPLY,), reads=EARLY_READ),
    InstructionClass("multiply pair", (2, 3), (MULTIPLY_PAIR,), reads=EARLY_READ),
    # LLVM charges two pipes before V69; the V6x manual's note on the instruction says one.
    InstructionClass("vector dot acc", (2, 3), (MULTIPLY_PAIR,), reads=EARLY_READ),
    InstructionClass("shift", pipes=(SHIFT,), reads=EARLY_READ),
    InstructionClass("permute", pipes=(PERMUTE,), reads=EARLY_READ),
    InstructionClass("permute pair", pipes=(CROSS_LANE_PAIR,), reads=EARLY_READ),
    InstructionClass("vector load", (0, 1), ANY_PIPE, Port.VECTOR_LOAD, reads=ADDRESS_READ),
    InstructionClass("vector load tmp", (0, 1), (), Port.VECTOR_LOAD, reads=ADDRESS_READ),
    InstructionClass(
        "vector load unaligned", (0,), (PERMUTE,), Port.VECTOR_LOAD, True, reads=ADDRESS_READ
    ),
    InstructionClass("vector store", (0,), ANY_PIPE, Port.VECTOR_STORE),
    InstructionClass("vector store new", (0,), (), Port.VECTOR_STORE),
    InstructionClass(
        "vector store unaligned", (0,), (PERMUTE,), Port.VECTOR_STORE, True, reads=EARLY_READ
    ),
    InstructionClass("extract", (0,), ANY_PIPE, Port.VECTOR_LOAD, solo=True, writes=EXTRACT_RESULT),
    InstructionClass("histogram", pipes=(Pipes(permute=1, shift=1, multiply=2),), reads=EARLY_READ),
    InstructionClass("scalar alu", reads=SCALAR_READ, writes=SCALAR_RESULT),
    InstructionClass(
        "scalar shift or multiply", (2, 3), reads=ADDRESS_READ, writes=SCALAR_LONG_RESULT
    ),
    InstructionClass("scalar load", (0, 1), reads=ADDRESS_READ, writes=SCALAR_LONG_RESULT),
    InstructionClass("scalar store", (0, 1), reads=SCALAR_READ),
    InstructionClass("frame", (0,), excludes=("vector store", "scatter", "frame", "prefetch")),
    InstructionClass(
        "prefetch", (0,), port=Port.PREFETCH, excludes=("scalar store",), reads=ADDRESS_READ
    ),
    InstructionClass("box prefetch", (0,), solo=True, reads=ADDRESS_READ),
    InstructionClass("loop setup", (3,), reads=SCALAR_READ),
    InstructionClass("splat", (2, 3), (MULTIPLY,)),
)

# Each architecture is the previous one with these classes changed or added.
VERSION_CHANGES: dict[int, dict[str, InstructionClass]] = {
    60: _classes(InstructionClass("saturate", pipes=(SHIFT,), reads=EARLY_READ)),
    62: _classes(BASE_CLASSES["saturate"]),
    65: _classes(
        # Two of them share a packet in the assembler and in real V65 kernels, but only without
        # shifts and permutes beside them (tried with llvm-mc); in LLVM's scheduling table
        # one of them uses both multiply pipes.
        InstructionClass(
            "two-stream dot",
            (2, 3),
            (Pipes(permute=1, multiply=1), Pipes(shift=1, multiply=1)),
            reads=EARLY_READ,
        ),
        InstructionClass("gather", (1,), ANY_PIPE, Port.VECTOR_LOAD),
        InstructionClass("gather pair", (1,), ANY_PAIR, Port.VECTOR_LOAD),
        InstructionClass("scatter", (0,), ANY_PIPE, Port.VECTOR_STORE),
    ),
    66: _classes(
        # Z is ready for the next packet (inferred): the hand-written loop of Hexagon NN reloads Z
        # every four packets, all of them Z dots, so a longer latency would stall it.
        InstructionClass("Z load", (0, 1), (), Port.Z_LOAD, reads=ADDRESS_READ, writes=LATE_READ),
        InstructionClass(
            "Z dot", (2, 3), (Pipes(permute=1, shift=1, multiply=2),), reads=EARLY_READ
        ),
    ),
}
VERSIONS = tuple(VERSION_CHANGES)


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
        table = dict(BASE_CLASSES)
        for version, changes in VERSION_CHANGES.items():
            if version <= self.version:
                table |= changes
        object.__setattr__(self, "classes", table)

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
