"""A kernel as scheduled code for a tile, a row of tiles and a call; builds instruction streams.

A tile is `pixels` output pixels of `channels` output channels. Loops over filter taps are inside a
tile; loops over tiles are the outer loops, whose prologue and epilogue run once per row of tiles.

The requantise stage of accumulating kernels, int32 to u8 with one rounding, has a left shift, a
fractional multiply in two steps (`vmpye`, `vmpyo:<<1:rnd:sat`), saturating packs, and the running
minimum and maximum of the accumulators, by which Hexagon NN detects a range that is too small. Bias
and output zero point are in the accumulators already. The left shift is the plain `vasl`: the
saturation of the arithmetic contract would need two clamps per accumulator, but with the constants
of the lowering, results differ only for an accumulator of 2^30 output steps.
"""

from collections.abc import Callable
from functools import cached_property, lru_cache, wraps
from typing import Any, Concatenate, ParamSpec, cast

from hexsim import budget
from hexsim.hvx.isa import HvxMachine, Port
from hexsim.hvx.modulo import Loop
from hexsim.hvx.packets import Insn, split
from hexsim.hvx.pipelining import PipelinedLoop, pipelined
from hexsim.hvx.scheduling import Straight, straight
from hexsim.records import dataclass


class Stream:
    """Instructions in program order: `s("max.ub", "y", "x", "zero")` appends y = max(x, zero)."""

    def __init__(self) -> None:
        self._insns: list[Insn] = []
        self._limit = budget.allowed(budget.INSTRUCTIONS)

    def __call__(self, op: str, dst: str, *src: str, imm: int = 0) -> str:
        """Append one instruction and return the name of its result."""
        self._insns.append(Insn(op, dst, src, imm))
        if len(self._insns) > self._limit:
            budget.require(budget.INSTRUCTIONS, len(self._insns), "the loop of a kernel")
        return dst

    @property
    def insns(self) -> tuple[Insn, ...]:
        """The stream so far."""
        return tuple(self._insns)


Of = ParamSpec("Of")
_MANY = 64  # tiles of a row, enough to reach the steady state of any loop


@dataclass(frozen=True, slots=True)
class LoopCost:
    """Packet slots of a kernel's loops (stalls included), and its vector accesses per tile.

    `row` slots are added for every row of tiles in one slice, `call` slots for every call.
    stalls: slots of a tile without an instruction. macs: multiply-adds of the hardware.
    scalar_fed: vector multiplies of the loop take operands of scalar loads in it.
    jumps: the loop over tiles ends in a conditional jump, because there is no third hardware loop.
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
    """Code that is run `times`, with `slots` packet slots each time.

    Negative times subtract passes that another segment contains already.
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

    tile, row, call: segments per tile, per row of tiles (beyond its tiles), per call. slices:
    vectors of output channels in a tile.
    in_vtcm: addresses in VTCM; all others are in L2. note: why the count differs
    from that of the hand-written kernel.
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
        """Slots, vectors and MACs of the kernel, for the blocking."""
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
        """Packets of a tile, without stalls."""
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


def pipelined_segments(
    name: str, pipelined_loop: PipelinedLoop, times: int = 1
) -> tuple[Segment, ...]:
    """Return a run of an inner loop: its steady passes, and the code between runs."""
    slots = pipelined_loop.slots - pipelined_loop.steady * pipelined_loop.loop.interval
    steady = Segment(
        f"{name}: loop",
        pipelined_loop.loop,
        pipelined_loop.steady * times,
        pipelined_loop.loop.interval,
    )
    return (
        steady,
        Segment(f"{name}: epilogue and prologue", pipelined_loop.epilogue_prologue, times, slots),
    )


def tile_loop(
    name: str,
    machine: HvxMachine,
    body: tuple[Insn, ...],
    *,
    before: tuple[Insn, ...] = (),
    pixels: int = 4,
    note: str = "",
) -> Kernel:
    """Return a kernel with one pass of a loop per tile; `before` prepares a row of tiles."""
    pipelined_loop = pipelined(machine, body, _MANY, (), before)
    return Kernel(
        name,
        machine,
        (Segment("loop", pipelined_loop.loop, 1, pipelined_loop.loop.interval),),
        row_segments("", pipelined_loop),
        call(machine),
        pixels=pixels,
        note=note,
    )


def row_segments(name: str, pipelined_loop: PipelinedLoop) -> tuple[Segment, ...]:
    """Return epilogue and prologue of a row of tiles, less the passes that they replace."""
    slots = pipelined_loop.slots - pipelined_loop.steady * pipelined_loop.loop.interval
    missing = pipelined_loop.steady - pipelined_loop.iterations
    return (
        Segment(f"{name}epilogue and prologue", pipelined_loop.epilogue_prologue, 1, slots),
        Segment(
            f"{name}passes in epilogue and prologue",
            pipelined_loop.loop,
            missing,
            pipelined_loop.loop.interval,
        ),
    )


def plain_loop(
    name: str, machine: HvxMachine, body: tuple[Insn, ...], *, pixels: int = 4, note: str = ""
) -> Kernel:
    """Return a kernel whose loop is not pipelined: every pass waits for its own results."""
    code = straight(machine, body)
    return Kernel(
        name,
        machine,
        (Segment("loop body", code, 1, code.length),),
        call=call(machine),
        pixels=pixels,
        note=note,
    )


Scheduled = Callable[Concatenate[HvxMachine, Of], Kernel]


def tiled(
    name: str, loop: Callable[..., Kernel] = tile_loop, **options: Any
) -> Callable[[Callable[Concatenate[Stream, Of], None]], Scheduled[Of]]:
    """Decorate a function that writes the code of a tile: it becomes one of the machine.

    What it returns is `loop` of that name and with those options. It is scheduled once for each
    machine, and for each of the function's further arguments.
    """

    def decorate(write: Callable[Concatenate[Stream, Of], None]) -> Scheduled[Of]:
        @lru_cache(maxsize=64)
        @wraps(write)
        def kernel(machine: HvxMachine, *of: Of.args, **named: Of.kwargs) -> Kernel:
            stream = Stream()
            write(stream, *of, **named)
            return loop(name, machine, stream.insns, **options)

        return cast("Scheduled[Of]", kernel)  # the type of a cache has no parameters

    return decorate


def looped(
    name: str,
    machine: HvxMachine,
    label: str,
    times: int,
    body: Stream,
    around: tuple[Stream, Stream],
    **options: Any,
) -> Kernel:
    """Return a kernel whose tile is a loop over `body`, run `times`.

    `around` is the code after the loop, and that before the one of the next tile.
    """
    tail, head = around
    pipelined_loop = pipelined(machine, body.insns, times, tail.insns, head.insns)
    segments = pipelined_segments(label, pipelined_loop)
    return Kernel(name, machine, segments, call=call(machine), **options)


@lru_cache(maxsize=64)
def call(machine: HvxMachine, saved_pairs: int = 6, arguments: int = 10) -> tuple[Segment, ...]:
    """Return entry and exit: a frame, saved registers, arguments from the stack, constants.

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
    return (Segment("entry", entry, 1, entry.length), Segment("exit", leave, 1, leave.length + 1))


def requantize(s: Stream, accumulators: list[str], result: str, *, track: bool = True) -> str:
    """Requantise four accumulators of 32 channels to a vector of four pixels; return its name.

    An accumulator that is named twice is scaled once.
    """
    names = {accumulator: f"{result}_{k}" for k, accumulator in enumerate(accumulators)}
    for accumulator, name in names.items():
        s("asl.w.R", f"{name}s", accumulator, "shift")
        s("mpye", name, f"{name}s", "multiplier")
        s("mpyo.acc", name, f"{name}s", "multiplier")
        if track:
            s("max.w", "largest", "largest", accumulator)
            s("min.w", "smallest", "smallest", accumulator)
    scaled = [names[accumulator] for accumulator in accumulators]
    s("pack.w.h", f"{result}l", scaled[1], scaled[0])
    s("pack.w.h", f"{result}h", scaled[3], scaled[2])
    return s("pack.h.ub", result, f"{result}h", f"{result}l")
