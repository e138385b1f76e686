"""What one inference costs: the parts of documents on layers, memory, energy and intervals."""

from collections.abc import Mapping
from typing import Annotated, Any, Literal

from hexsim.datasheets.measurements import ANY_CHIP, expected_error
from hexsim.datasheets.quantity import Estimate
from hexsim.runtimes import Engine
from hexsim.texts.fields import (
    Bytes,
    Cycles,
    Macs,
    Microseconds,
    Millijoules,
    Milliseconds,
    Packets,
    Part,
    Share,
    about,
)
from hexsim.timing.results import Bound, Result, Scope
from hexsim.timing.work import CostModel


class Millijoule(Part):
    """Millijoules with all constants as stated, at their lower and at their upper ends."""

    mj: Annotated[Millijoules, about("with the constants as stated")]
    mj_low: Annotated[Millijoules, about("with all constants at their lower ends")]
    mj_high: Annotated[Millijoules, about("with all constants at their upper ends")]


class LayerCost(Part):
    """A layer, in the order of the run; cycles are of the clock of its engine."""

    name: Annotated[str, about("the layer", label="layer")]
    type: Annotated[str, about("its type")]
    engine: Annotated[Engine, about("the hardware that computes it")]
    cycles: Annotated[Cycles, about("its duration in cycles of the engine", label="cycles")]
    us: Annotated[Microseconds, about("its duration", label="us")]
    macs: Annotated[Macs, about("its multiply-accumulates", label="MMAC", shown="MMAC")]
    packets: Annotated[
        Packets, about("instruction packets that its threads issue", label="packets")
    ]
    stall_share: Annotated[
        Share, about("issue slots of its threads in which nothing issues", label="stalls")
    ]
    hvx_utilisation: Annotated[Share, about("issue slots of all vector contexts that it uses")]
    array_utilisation: Annotated[Share, about("multiply-accumulates of the tensor engine's array")]
    ddr_bytes: Annotated[Bytes, about("bytes from and to DDR", label="DDR", shown="KiB")]
    ddr_read_bytes: Annotated[Bytes, about("bytes from DDR", label="DDR rd", shown="KiB")]
    ddr_write_bytes: Annotated[Bytes, about("bytes to DDR", label="DDR wr", shown="KiB")]
    l2_bytes: Annotated[Bytes, about("bytes of L2", label="L2", shown="KiB")]
    vtcm_bytes: Annotated[Bytes, about("bytes of VTCM", label="VTCM", shown="KiB")]
    bound: Annotated[Bound, about("what most of its time is spent on")]
    bound_share: Annotated[Share, about("how much of it")]
    parts_us: Annotated[Mapping[str, Microseconds], about("its duration by what it is spent on")]
    cost_model: Annotated[CostModel, about("the model that gives its cost")]
    mj: Annotated[Millijoules, about("its energy, with the constants as stated", label="mJ")]
    mj_low: Annotated[Millijoules, about("with all constants at their lower ends")]
    mj_high: Annotated[Millijoules, about("with all constants at their upper ends")]
    parts_mj: Annotated[Mapping[str, Millijoules], about("its energy by part of the chip")]
    layer_class: Annotated[str, about("the class in which measured layers are compared")] = ""
    start_us: Annotated[Microseconds, about("when it starts, from the first call on")] = 0.0
    cpu_reason: Annotated[
        str, about("why the CPU computes it, not the engine of the runtime; empty: it is that")
    ] = ""
    to_cpu_us: Annotated[Microseconds, about("the crossing to the CPU before it")] = 0.0
    from_cpu_us: Annotated[Microseconds, about("the crossing back after it")] = 0.0
    instead: Annotated[str, about("a change that keeps it on the engine, if one is known")] = ""

    @property
    def ms(self) -> float:
        """Its duration in milliseconds."""
        return self.us / 1e3


class OverheadCost(Millijoule):
    """A part of the call that is no layer, in the order of the run."""

    name: Annotated[str, about("the part")]
    us: Annotated[Microseconds, about("its duration", label="us")]
    scope: Annotated[Scope, about("what it belongs to: runtime, rpc, executor or graph")]
    purpose: Annotated[str, about("what it is for, in words")]
    forward: Annotated[bool, about("whether forward propagate includes it")]
    ddr_read_bytes: Annotated[Bytes, about("bytes from DDR")]
    ddr_write_bytes: Annotated[Bytes, about("bytes to DDR")]
    l2_bytes: Annotated[Bytes, about("bytes of L2")]
    vtcm_bytes: Annotated[Bytes, about("bytes of VTCM")]


class LayerMemory(Part):
    """The memory of a layer."""

    name: Annotated[str, about("the layer", label="layer")]
    type: Annotated[str, about("its type")]
    engine: Annotated[Engine, about("the hardware that computes it")]
    weight_bytes: Annotated[
        Bytes, about("weights as the model stores them", label="weights", shown="KiB")
    ]
    packed_bytes: Annotated[
        Bytes, about("the copy of them that its kernel reads", label="packed", shown="KiB")
    ]
    live_bytes: Annotated[
        Bytes, about("activations while it runs, with padding", label="live", shown="KiB")
    ]
    on_chip_bytes: Annotated[
        Bytes, about("weights in VTCM, or the engine's local memory", label="on chip", shown="KiB")
    ]


class Footprint(Part):
    """The memory of an inference at its peak, by part, and of every layer that runs."""

    peak_bytes: Annotated[
        Bytes, about("all that is allocated", label="peak memory", shown="MiB", row=True)
    ]
    process: Annotated[Estimate | None, about("with the runtime, on Android, in bytes")] = None
    weight_bytes: Annotated[Bytes, about("weights as the model stores them")] = 0
    packed_bytes: Annotated[Bytes, about("copies of them that kernels read")] = 0
    activation_bytes: Annotated[Bytes, about("arenas of the subnets")] = 0
    scratch_bytes: Annotated[Bytes, about("intermediate results of kernels")] = 0
    handed_bytes: Annotated[Bytes, about("buffers between the CPU and the DSP")] = 0
    application_bytes: Annotated[Bytes, about("inputs and outputs of the application")] = 0
    addressed_bytes: Annotated[Bytes, about("what a tensor processor's process addresses")] = 0
    live_bytes: Annotated[Bytes, about("the most live activations of a layer")] = 0
    largest_layer: Annotated[str | None, about("the layer that has them")] = None
    on_chip_bytes: Annotated[Bytes, about("the most memory on chip of a layer")] = 0
    layers: Annotated[tuple[LayerMemory, ...], about("every layer")] = ()


class EnergyUse(Millijoule):
    """The energy of an inference; that of a layer is among the figures of the layer."""

    parts_mj: Annotated[Mapping[str, Millijoule], about("by part of the chip")] = {}


class Figures(Part):
    """Times of both figures that a phone reports, in milliseconds."""

    total_inference: Annotated[tuple[Milliseconds, ...], about("around the call")] = ()
    forward_propagate: Annotated[tuple[Milliseconds, ...], about("inside the runtime")] = ()


class ConstantEffect(Part):
    """A constant in doubt, and the times at both ends of its interval."""

    stated_by: Annotated[str, about("the datasheet", label="stated by")]
    constant: Annotated[str, about("its path there")]
    unit: Annotated[str, about("its unit")]
    confidence: Annotated[str, about("documented, inferred, calibrated or assumed")]
    source: Annotated[str, about("where it comes from")]
    value: Annotated[float, about("as stated")]
    interval: Annotated[tuple[float, float], about("its ends")]
    total_inference_us: Annotated[tuple[Microseconds, Microseconds], about("the times there")]
    share: Annotated[Share, about("of the squared width of the interval of the time")]


Swept = Literal["everything", "tensor engine", "a few draws"]


class Interval(Part):
    """The interval of the times, and the constants that it comes from."""

    swept: Annotated[Swept, about("which constants were changed, and how")]
    total_inference_us: Annotated[tuple[Microseconds, Microseconds], about("its ends")]
    forward_propagate_us: Annotated[tuple[Microseconds, Microseconds], about("its ends")]
    initialisation_us: Annotated[tuple[Microseconds, Microseconds] | None, about("its ends")] = None
    measured_outside_ms: Annotated[Figures, about("measured times outside of it")] = Figures()
    constants: Annotated[tuple[ConstantEffect, ...], about("largest effect first")] = ()


class Draws(Part):
    """The times with all constants drawn at once, the same draws for all of a platform."""

    count: Annotated[int, about("how many")]
    total_inference_us: Annotated[tuple[Microseconds, Microseconds], about("9 in 10 are inside")]
    forward_propagate_us: Annotated[tuple[Microseconds, Microseconds], about("9 in 10 are inside")]
    initialisation_us: Annotated[
        tuple[Microseconds, Microseconds] | None, about("9 in 10 are inside")
    ] = None
    totals_us: Annotated[tuple[float, ...], about("total time of each", stored=False)] = ()


class CostModelShare(Part):
    """How much of the network a cost model covers."""

    layers: Annotated[Share, about("of the layers")]
    macs: Annotated[Share, about("of the multiply-accumulates")]


class ClientLatency(Part):
    """The latencies of a client, and its jobs that were late or dropped."""

    missed: Annotated[int, about("jobs that ended after their deadline")]
    skipped: Annotated[int, about("jobs that found no vector context")]
    mean_us: Annotated[Microseconds, about("mean latency")]
    worst_us: Annotated[Microseconds, about("longest latency")]


class ClientCost(Part):
    """A client without and with the network."""

    name: Annotated[str, about("the client")]
    unit: Annotated[str, about("hvx or scalar")]
    period_us: Annotated[Microseconds, about("from job to job")]
    deadline_us: Annotated[Microseconds, about("from the release of a job")]
    jobs: Annotated[int, about("jobs that were released")]
    alone: Annotated[ClientLatency, about("without the network")]
    beside: Annotated[ClientLatency, about("with it")]


class Slowdown(Part):
    """The time alone, and the mean beside the clients."""

    alone_us: Annotated[Microseconds, about("without clients")]
    mean_us: Annotated[Microseconds, about("beside them")]


class Interference(Slowdown):
    """The network beside background clients."""

    loads: Annotated[tuple[str, ...], about("the loads")]
    inferences: Annotated[int, about("inferences in a row beside them")]
    worst_us: Annotated[Microseconds, about("the longest inference beside them")]
    parts: Annotated[Mapping[str, Slowdown], about("by layer and overhead")]
    clients: Annotated[tuple[ClientCost, ...], about("every client")]
    timing: Annotated[Result | None, about("the simulated workload", stored=False)] = None


class AnchorError(Part):
    """How wrong an anchored time may be, as a share of the time."""

    share: Annotated[Share, about("half the length of the interval, as a natural logarithm")]
    causes: Annotated[Mapping[str, Any], about("constants by cause")]


class TimeError(Part):
    """How far times of a chip and runtime have been from measured ones that no fit had seen."""

    median: Annotated[Share, about("half of the times were as near as this")]
    most: Annotated[Share, about("nine in ten were as near as this")]
    rows: Annotated[int, about("measured times, or chips that were left out")]
    of_this_chip: Annotated[bool, about("whether enough times of this chip are measured")]
    text: Annotated[str, about("the same in words")]

    @classmethod
    def of(cls, chip: str, stack: str, runtime: str, precision: str = "") -> "TimeError | None":
        """Return the error of a class of times (`expected_error`), None if it is not known."""
        error = expected_error(chip, stack, runtime, precision)
        if error is None:
            return None
        own = error.chip != ANY_CHIP
        return cls(
            median=error.median, most=error.most, rows=error.rows, of_this_chip=own, text=str(error)
        )

    def __str__(self) -> str:
        return self.text
