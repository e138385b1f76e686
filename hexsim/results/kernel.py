"""A kernel on a chip, ours or compiled code: what `kernel` returns."""

from typing import Annotated, ClassVar

from hexsim.graph.ir import Shape
from hexsim.results.document import Document
from hexsim.texts.fields import (
    Bytes,
    Cycles,
    Hertz,
    Macs,
    Microseconds,
    Packets,
    Part,
    Share,
    about,
    unit,
)
from hexsim.texts.figures import figure
from hexsim.timing.results import Bound
from hexsim.timing.work import CostModel

Slots = Annotated[int, unit("issue slots")]
SlotShare = Annotated[float, unit("issue slots")]
PacketShare = Annotated[float, unit("packets")]
Clocks = Annotated[float, unit("clocks")]


class Blocking(Part):
    """How the layer is cut into jobs; weight groups only of kernels that divide their weights."""

    padding_share: Annotated[Share, about("padding of what is computed or moved")]
    workers: Annotated[int, about("threads that work at once")]
    nodes: Annotated[int, about("nodes of the graph")]
    stages: Annotated[int, about("stages, each followed by a join")]
    prefetches: Annotated[int, about("prefetches of weights")]
    jobs: Annotated[int, about("jobs that the workers share")]
    form: Annotated[str | None, about("how the weights of a convolution are divided")] = None
    channels_per_slice: Annotated[int | None, about("output channels of a slice")] = None
    weight_groups: Annotated[int | None, about("groups of slices")] = None
    slices_per_group: Annotated[int | None, about("slices of the first group")] = None
    slice_bytes: Annotated[Bytes | None, about("weights of a slice")] = None
    weights_in_vtcm: Annotated[bool | None, about("whether weights are in VTCM, else L2")] = None
    vtcm_bytes: Annotated[Bytes | None, about("weights in VTCM at a time")] = None
    rows_per_worker: Annotated[int | None, about("rows of the output")] = None
    rows_per_call: Annotated[int | None, about("rows of the output")] = None
    calls_per_worker: Annotated[int | None, about("calls of the kernel")] = None


class KernelCost(Part):
    """The costs of the layer."""

    us: Annotated[Microseconds, about("its time")]
    cycles: Annotated[Cycles, about("the same in clocks of the core")]
    dispatch_us: Annotated[Microseconds, about("its part for dispatch")]
    bound: Annotated[Bound, about("what most of it is spent on")]
    cost_model: Annotated[CostModel, about("the model that gives it")]
    macs: Annotated[Macs, about("multiply-accumulates of the layer")]
    packets: Annotated[Packets, about("that all threads issue")]
    stall_slots: Annotated[Slots, about("in which nothing issues")]
    macs_per_slot: Annotated[float, about("multiply-accumulates", label="MACs per slot")]
    peak_macs_per_packet: Annotated[float, about("the most of one thread")]
    efficiency: Annotated[Share, about("of the peak of all contexts")]
    ddr_bytes: Annotated[Bytes, about("from and to DDR")]
    l2_bytes: Annotated[Bytes, about("of L2")]
    vtcm_traffic_bytes: Annotated[Bytes, about("of VTCM")]


class PacketText(Part):
    """A packet; a dot stands for a free slot or pipe."""

    slots: Annotated[str, about("which of the slots 0 to 3 it fills")]
    pipes: Annotated[str, about("which vector pipes: P permute, S shift, M multiply")]
    asm: Annotated[str, about("its instructions, a semicolon between two")]


class Segment(Part):
    """A loop, which is given once and not unrolled, or straight code."""

    name: Annotated[str, about("its name")]
    times: Annotated[int, about("how often it runs")]
    slots: Annotated[Slots, about("of all runs")]
    stalls: Annotated[Slots, about("in which nothing issues")]
    initiation_interval: Annotated[Packets | None, about("from one iteration to the next")] = None
    resource_bound: Annotated[Packets | None, about("the least that its instructions need")] = None
    unrolled: Annotated[int, about("copies of the loop's body, for its registers")]
    loop: Annotated[str | None, about("its name among `loops`, which have its packets")] = None
    packets: Annotated[tuple[PacketText, ...], about("every packet of straight code")]


class Stream(Part):
    """The costs of a stream's tile, row and call."""

    name: Annotated[str, about("its name")]
    pixels: Annotated[int, about("of a tile")]
    channels: Annotated[int, about("of a tile")]
    slots_per_tile: Annotated[Slots, about("with stalls")]
    stalls_per_tile: Annotated[Slots, about("in which nothing issues")]
    slots_per_row: Annotated[Slots, about("more for each row of tiles")]
    slots_per_call: Annotated[Slots, about("more for each call")]
    macs_per_tile: Annotated[Macs, about("of the hardware")]
    macs_per_packet: Annotated[float, about("multiply-accumulates")]
    efficiency: Annotated[Share, about("of the peak of one thread")]
    scalar_fed: Annotated[bool, about("whether multiplies wait for scalar loads")]
    l2_vectors: Annotated[int, about("vectors of L2 for a tile")]
    vtcm_vectors: Annotated[int, about("vectors of VTCM for a tile")]
    note: Annotated[str, about("what is special about it")]
    segments: Annotated[tuple[Segment, ...], about("its code")]


class LoopPacket(PacketText):
    """A packet of a loop in its steady state."""

    address: Annotated[int | None, about("where it is in the file")] = None
    clock: Annotated[Clocks, about("at which it issues, from the beginning of the iteration")]
    stall: Annotated[Slots, about("before it, in which nothing issues")]
    cause: Annotated[str, about("what it waits for")]
    executed: Annotated[int | None, about("how often, if the program was run")] = None


class Need(Part):
    """What the instructions of an iteration need of a resource."""

    resource: Annotated[str, about("slots, vector pipes or a port")]
    packets: Annotated[PacketShare, about("the least that it allows")]


class Gain(Part):
    """What a change of the loop would give at most."""

    change: Annotated[str, about("the change")]
    slots: Annotated[SlotShare, about("of an iteration as it is now")]
    faster: Annotated[float, about("times as fast")]


class ThreadRate(Part):
    """The loop on several threads at a time; clocks are of an iteration of every thread."""

    threads: Annotated[int, about("software threads, each with the loop")]
    contexts: Annotated[int, about("of them that hold a vector context at a time")]
    issue_share: Annotated[Share, about("of the packets that all clusters could issue")]
    clocks: Annotated[Clocks, about("if the data are in VTCM, or in registers")]
    l2_clocks: Annotated[Clocks, about("if the data are in L2")]
    ddr_clocks: Annotated[Clocks, about("if the data are in DDR and nothing prefetches them")]
    memory: Annotated[str, about("the farthest memory that keeps up: DDR, L2 or VTCM")]
    bytes_per_clock: Annotated[float, about("that all threads move"), unit("B/clk")]


class KernelLoop(Part):
    """A loop: an iteration in the steady state of one thread."""

    name: Annotated[str, about("its label, or function and distance from its beginning")]
    function: Annotated[str, about("the function or stream")]
    depth: Annotated[int, about("how many loops it is in")]
    kind: Annotated[str, about("hardware or jump")]
    packets_issued: Annotated[Packets, about("of an iteration, inner loops aside")]
    stalls: Annotated[Slots, about("of an iteration, in which nothing issues")]
    clocks: Annotated[Clocks, about("of an iteration, inner loops aside")]
    trips: Annotated[int | None, about("iterations, if they are known")] = None
    total_clocks: Annotated[Clocks | None, about("of all iterations, inner loops included")] = None
    resource_bound: Annotated[Packets, about("the least that resources allow")]
    recurrence_bound: Annotated[Slots, about("the least for values passed to the next iteration")]
    limit: Annotated[str, about("what limits it")]
    load_bytes: Annotated[Bytes, about("read from memory in an iteration")]
    store_bytes: Annotated[Bytes, about("written to memory in an iteration")]
    needs: Annotated[tuple[Need, ...], about("of each resource, the largest first")]
    gains: Annotated[tuple[Gain, ...], about("of changes, at most")]
    threads: Annotated[tuple[ThreadRate, ...], about("on one to six threads")]
    remarks: Annotated[tuple[str, ...], about("what the clocks do not contain")]
    packets: Annotated[tuple[LoopPacket, ...], about("every packet")]

    @property
    def slots(self) -> int:
        """Issue slots of an iteration."""
        return self.packets_issued + self.stalls


class CodeFunction(Part):
    """A function of compiled code."""

    name: Annotated[str, about("its name")]
    packets: Annotated[Packets, about("in the file")]
    straight_clocks: Annotated[Clocks, about("of the packets outside loops, each once")]
    total_clocks: Annotated[Clocks | None, about("with its loops, if all trips are known")] = None
    executed: Annotated[int | None, about("packets, of a run or if all trips are known")] = None


class RunRate(Part):
    """Several programs at a time, each on a thread with data of its own and a part of L2."""

    threads: Annotated[int, about("programs at a time")]
    contexts: Annotated[int, about("of them that hold a vector context at a time")]
    clocks: Annotated[Clocks, about("until all have ended")]
    l2_hits: Annotated[Share, about("of accesses that are not to VTCM")]
    ddr_bytes: Annotated[Bytes, about("from and to DDR, of each")]
    limit: Annotated[str, about("what takes the time: issue, L2 or DDR")]


class Run(Part):
    """The program as QEMU has executed it, on one thread."""

    arguments: Annotated[tuple[str, ...], about("of the program")]
    packets: Annotated[Packets, about("executed, of functions in the file")]
    stalls: Annotated[Slots, about("in which nothing issues")]
    l2_bytes: Annotated[Bytes, about("of vector accesses through L2")]
    vtcm_bytes: Annotated[Bytes, about('of accesses to sections ".vtcm"')]
    rates: Annotated[tuple[RunRate, ...], about("on one to six threads")]
    printed: Annotated[str, about("by the program, its beginning")]
    remarks: Annotated[tuple[str, ...], about("on how it ended and what is not counted")]


class LoopChange(Part):
    """A loop in two versions of the code."""

    name: Annotated[str, about("in this version")]
    other: Annotated[str | None, about("in the version compared")] = None
    clocks: Annotated[Clocks, about("of an iteration here")]
    other_clocks: Annotated[Clocks | None, about("of an iteration there")] = None
    bytes_per_clock: Annotated[float, about("moved here"), unit("B/clk")]
    other_bytes_per_clock: Annotated[float | None, about("moved there"), unit("B/clk")] = None
    faster: Annotated[
        float | None, about("times as fast here, for each byte, or iteration without bytes")
    ] = None


class Kernel(Document):
    """A kernel on a chip, and all that the text report shows.

    A kernel of ours has a blocking, a cost and streams; compiled code has functions. Both have
    loops.
    """

    WRITTEN_BY: ClassVar[str] = "hexsim kernel"
    ROWS: ClassVar[str] = "loops"

    kernel: Annotated[str, about("its name, or the file")]
    shape: Annotated[str, about("its shape, as given")] = ""
    chip: Annotated[str, about("the chip")]
    version: Annotated[int, about("of its DSP: 65 for V65")]
    code_version: Annotated[int | None, about("for which the code was compiled")] = None
    stack: Annotated[str, about("the software")]
    clock_hz: Annotated[Hertz, about("of the DSP")]
    inputs: Annotated[tuple[Shape, ...], about("shapes that it reads")] = ()
    outputs: Annotated[tuple[Shape, ...], about("shapes that it writes")] = ()
    blocking: Annotated[Blocking | None, about("how it is cut")] = None
    cost: Annotated[KernelCost | None, about("its time and traffic")] = None
    streams: Annotated[tuple[Stream, ...], about("its instruction streams")] = ()
    functions: Annotated[tuple[CodeFunction, ...], about("of compiled code")] = ()
    loops: Annotated[tuple[KernelLoop, ...], about("each before its inner loops")] = ()
    run: Annotated[Run | None, about("of a program that was executed")] = None
    left_out: Annotated[tuple[str, ...], about("functions with unknown instructions")] = ()
    against: Annotated[str | None, about("the version compared")] = None
    changes: Annotated[tuple[LoopChange, ...], about("from the version compared")] = ()

    @property
    def title(self) -> str:
        """Kernel, chip and time."""
        if self.cost is not None:
            return f"{self.kernel} {self.shape} on {self.chip}: {figure(self.cost.us)} us"
        if self.run is not None:
            return f"{self.kernel} on {self.chip}: {figure(self.run.rates[0].clocks)} clocks"
        known = [f.total_clocks for f in self.functions if f.total_clocks is not None]
        if known and len(known) == len(self.functions):
            return f"{self.kernel} on {self.chip}: {figure(sum(known))} clocks"
        return f"{self.kernel} on {self.chip}: {len(self.loops)} loops"
