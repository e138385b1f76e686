"""One kernel alone on a chip: what `kernel` returns."""

from typing import Annotated, ClassVar

from hexsim.graph.ir import Shape
from hexsim.results.document import Document
from hexsim.results.fields import (
    Bytes,
    Cycles,
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
    asm: Annotated[str, about("its instructions")]


class Segment(Part):
    """A loop, which is given once and not unrolled, or straight code."""

    name: Annotated[str, about("its name")]
    times: Annotated[int, about("how often it runs")]
    slots: Annotated[Slots, about("of all runs")]
    stalls: Annotated[Slots, about("in which nothing issues")]
    initiation_interval: Annotated[Packets | None, about("from one iteration to the next")] = None
    resource_bound: Annotated[Packets | None, about("the least that its instructions need")] = None
    unrolled: Annotated[int, about("copies of the loop's body, for its registers")]
    packets: Annotated[tuple[PacketText, ...], about("every packet")]


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


class Kernel(Document):
    """A kernel alone on a chip, and all that the text report shows."""

    WRITTEN_BY: ClassVar[str] = "hexsim kernel"
    ROWS: ClassVar[str] = "streams"

    kernel: Annotated[str, about("its name")]
    shape: Annotated[str, about("its shape, as given")]
    chip: Annotated[str, about("the chip")]
    version: Annotated[int, about("of its DSP: 65 for V65")]
    stack: Annotated[str, about("the software")]
    inputs: Annotated[tuple[Shape, ...], about("shapes that it reads")]
    outputs: Annotated[tuple[Shape, ...], about("shapes that it writes")]
    blocking: Annotated[Blocking, about("how it is cut")]
    cost: Annotated[KernelCost, about("its time and traffic")]
    streams: Annotated[tuple[Stream, ...], about("its instruction streams")]

    @property
    def title(self) -> str:
        """Kernel, chip and time."""
        return f"{self.kernel} {self.shape} on {self.chip}: {figure(self.cost.us)} us"
