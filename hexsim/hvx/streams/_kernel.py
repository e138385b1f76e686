"""A kernel as scheduled code: what a tile, a row of tiles and a call issue.

A tile is `pixels` output pixels of `channels` output channels. Loops over filter taps lie inside a
tile; loops over tiles are the kernel's outer loops, whose prologue and epilogue
are paid once per row of tiles.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

from hexsim.hvx.isa import HvxMachine, Port
from hexsim.hvx.modulo import Loop
from hexsim.hvx.packets import Insn, split
from hexsim.hvx.pipelining import PipelinedLoop, pipelined
from hexsim.hvx.scheduling import Straight, straight

_MANY = 64  # tiles of a row long enough to reach the steady state of any loop


@dataclass(frozen=True, slots=True)
class LoopCost:
    """Packet slots of a kernel's loops (stalls included), and its vector accesses per tile.

    `row` slots come on top for every row of tiles in one sheet, `call` slots for every call.
    stalls: slots of a tile in which nothing is issued. macs: multiply-adds the hardware does.
    scalar_fed: vector multiplies of the loop take operands that scalar loads in it bring.
    jumps: the loop over tiles is closed by a conditional jump, for lack of a third hardware loop.
    """

    tile: int
    row: int = 0
    call: int = 0
    pixels: int = 4
    channels: int = 32
    l2_vectors: int = 0
    vtcm_vectors: int = 0
    stalls: int = 0
    macs: int = 0
    scalar_fed: bool = False
    jumps: bool = False


@dataclass(frozen=True)
class Segment:
    """Code that is run `times`, `slots` packet slots each time.

    Negative times take away what another stretch contains already.
    """

    name: str
    code: Loop | Straight
    times: int
    slots: int

    @property
    def packets(self) -> int:
        """Packets issued each time."""
        return len(self.code.packets)

    @property
    def stalls(self) -> int:
        """Slots left empty each time."""
        return self.slots - self.packets


@dataclass(frozen=True)
class Kernel:
    """Scheduled code of one kernel for one shape class.

    tile, row, call: stretches per tile, per row of tiles (beyond its tiles), per call. slices:
    vectors of output channels in a tile.
    in_vtcm: addresses that point into VTCM; all others point into L2. note: why the count differs
    from the hand-written kernel's, if it does.
    """

    name: str
    machine: HvxMachine
    tile: tuple[Segment, ...]
    row: tuple[Segment, ...] = ()
    call: tuple[Segment, ...] = ()
    pixels: int = 4
    slices: int = 1
    in_vtcm: frozenset[str] = frozenset()
    note: str = ""

    @cached_property
    def cost(self) -> LoopCost:
        """The numbers that blocking needs."""
        memory = [
            (i.address or i.src[0], s.times)
            for s in self.tile
            for i in s.code.insns
            if i.instruction_class(self.machine).port
            in (Port.VECTOR_LOAD, Port.VECTOR_STORE, Port.Z_LOAD)
        ]
        vtcm = sum(times for address, times in memory if address in self.in_vtcm)
        return LoopCost(
            tile=sum(s.slots * s.times for s in self.tile),
            row=max(0, sum(s.slots * s.times for s in self.row)),
            call=sum(s.slots * s.times for s in self.call),
            pixels=self.pixels,
            channels=self.machine.lanes * self.slices,
            l2_vectors=sum(times for _, times in memory) - vtcm,
            vtcm_vectors=vtcm,
            stalls=sum(s.stalls * s.times for s in self.tile),
            macs=self.machine.lanes
            * sum(i.operation.macs * s.times for s in self.tile for i in s.code.insns),
            scalar_fed=any(_scalar_fed(s.code) for s in self.tile),
            jumps=any(i.op == "jump.if" for s in self.tile for i in s.code.insns),
        )

    @property
    def packets(self) -> int:
        """Packets of a tile, stalls left out."""
        return self.cost.tile - self.cost.stalls

    @property
    def macs_per_packet(self) -> float:
        """Multiply-adds per packet slot of a tile."""
        return self.cost.macs / self.cost.tile


def _scalar_fed(code: Loop | Straight) -> bool:
    loaded = {
        split(i.dst)[0] for i in code.insns if i.operation.of_class == "scalar load" and i.dst
    }
    return any(split(value)[0] in loaded for i in code.insns if i.operation.macs for value in i.src)


def pipelined_segments(name: str, made: PipelinedLoop, times: int = 1) -> tuple[Segment, ...]:
    """A run of an inner loop as its steady passes and the epilogue and prologue between runs."""
    slots = made.slots - made.steady * made.loop.interval
    steady = Segment(f"{name}: loop", made.loop, made.steady * times, made.loop.interval)
    return (steady, Segment(f"{name}: epilogue and prologue", made.epilogue_prologue, times, slots))


def tile_loop(
    name: str,
    machine: HvxMachine,
    body: tuple[Insn, ...],
    *,
    before: tuple[Insn, ...] = (),
    pixels: int = 4,
    note: str = "",
) -> Kernel:
    """A kernel whose tile is one pass of a pipelined loop; `before` prepares a row of tiles."""
    made = pipelined(machine, body, _MANY, (), before)
    return Kernel(
        name,
        machine,
        (Segment("loop", made.loop, 1, made.loop.interval),),
        row_segments("", made),
        call(machine),
        pixels=pixels,
        note=note,
    )


def row_segments(name: str, made: PipelinedLoop) -> tuple[Segment, ...]:
    """Epilogue and prologue of a row of tiles, less the passes of the loop they stand for."""
    slots = made.slots - made.steady * made.loop.interval
    missing = made.steady - made.iterations
    return (
        Segment(f"{name}epilogue and prologue", made.epilogue_prologue, 1, slots),
        Segment(f"{name}passes in epilogue and prologue", made.loop, missing, made.loop.interval),
    )


def plain_loop(
    name: str, machine: HvxMachine, body: tuple[Insn, ...], *, pixels: int = 4, note: str = ""
) -> Kernel:
    """A kernel whose loop is not pipelined: every pass waits for its own results."""
    code = straight(machine, body)
    return Kernel(
        name,
        machine,
        (Segment("loop body", code, 1, code.length),),
        call=call(machine),
        pixels=pixels,
        note=note,
    )


def call(machine: HvxMachine, saved_pairs: int = 6, arguments: int = 10) -> tuple[Segment, ...]:
    """Entry and exit: a frame, saved registers, arguments from the stack, constants splatted.

    saved_pairs: callee-saved register pairs of the ABI, r16 to r27. arguments: beyond the six in
    registers, 4 bytes each (assumed typical).
    """
    insns = [Insn("allocframe", imm=8 * saved_pairs)]
    insns += [Insn("r.stored.at", "", ("sp", f"s{k}"), 8 * k) for k in range(saved_pairs)]
    insns += [Insn("r.loadw.at", f"arg{k}", ("sp",), 64 + 4 * k) for k in range(arguments)]
    insns += [Insn("splat", f"c{k}", (f"arg{k}",)) for k in range(4)]
    insns += [Insn("r.asl", f"step{k}", (f"arg{k + 4}",), 5) for k in range(4)]
    insns += [Insn("loop1", "", ("arg9",))]
    out = [Insn("r.loadd.at", f"old{k}", ("sp",), 8 * k) for k in range(saved_pairs)]
    entry, leave = straight(machine, insns), straight(machine, out)
    return (
        Segment("entry", entry, 1, entry.length),
        Segment("exit", leave, 1, leave.length + 1),
    )
