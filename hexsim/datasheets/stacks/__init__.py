"""Software releases: those that ship with hexsim, and stack files of the user; software only.

Modelled: the cost of entering the DSP, the dispatch of the runtime library, the votes of
performance profiles, the partition rules, the cost of loading a model, and the efficiency of
the CPU and GPU runtimes. Left out: hardware (see hexsim.datasheets.chips) and
the layers that the runtimes support (see hexsim.datasheets.operators).
"""

from functools import cache
from pathlib import Path
from typing import Annotated, Literal, Self

from msgspec import Meta, field

from hexsim.datasheets.chips import Corner, Dsp
from hexsim.datasheets.datasheet import Datasheet, DatasheetTable, Shelf
from hexsim.datasheets.operators import Column, Operators, column, unless_release
from hexsim.datasheets.quantity import (
    Bits,
    Bytes,
    BytesPerElement,
    BytesPerSecond,
    Clocks,
    ClocksPerElement,
    Count,
    Fraction,
    Packets,
    Ratio,
    Real,
    Seconds,
    SecondsPerByte,
    SecondsPerElement,
    TexelsPerLane,
)
from hexsim.errors import HexsimError, unknown
from hexsim.runtimes import Runtime
from hexsim.texts.tables import Checked

Qos = Literal["none", "adaptive", "pm_qos", "polling"]
BufferType = Literal["float", "tf8"]
PartitionRules = Literal["1.23", "1.25+"]
FusedFunction = Literal["silu"]
CpuClass = Literal["convolution", "depthwise", "fully_connected", "other"]
Release = Annotated[str, Checked(unless_release)]


class Profile(DatasheetTable):
    """The votes of a performance profile.

    `bus_vote` is the voted share of the DDR bandwidth; `hold_s` is the time for which the votes
    stay after the last inference, so that the hardware is awake for a call in this time. The DSP
    runs at `dsp_clock_share` of the clock of its corner.
    """

    meaning: str
    dsp_corner: Corner
    qos: Qos
    bus_vote: Fraction
    hold_s: Seconds
    dsp_clock_share: Fraction = 1.0

    def dsp_clock_hz(self, dsp: Dsp) -> float:
        """Return the clock of the DSP that the votes lead to."""
        return dsp.clock_hz(self.dsp_corner) * self.dsp_clock_share


class Profiles(DatasheetTable):
    """The profiles of the SNPE API; a stack without such an API maps its modes onto them.

    `default` is used if the application requests no profile.
    """

    burst: Profile
    sustained_high_performance: Profile
    high_performance: Profile
    balanced: Profile
    low_balanced: Profile
    high_power_saver: Profile
    power_saver: Profile
    low_power_saver: Profile
    system_settings: Profile
    default: Profile


PROFILES = Profiles.__struct_fields__


def _unless_profile(name: str) -> str | None:
    return None if name in PROFILES else " or ".join(PROFILES)


class Rpc(DatasheetTable):
    """Round trip of a FastRPC call without the time of the DSP job, by the length of that job.

    The longer the CPU waits, the deeper it sleeps. Between the three lengths times are
    interpolated; outside them the nearest one is used.
    """

    job_100us_s: Seconds
    job_1200us_s: Seconds
    job_11ms_s: Seconds


class RpcModes(DatasheetTable):
    """FastRPC round trips for each quality-of-service mode."""

    none: Rpc
    adaptive: Rpc
    pm_qos: Rpc
    polling: Rpc

    def of(self, profile: Profile) -> Rpc:
        """Return the round trips under a profile."""
        trips: Rpc = getattr(self, profile.qos)
        return trips


class SleepState(DatasheetTable):
    """A state that a part enters `after_idle_s` after the profile's hold, and its time to wake."""

    after_idle_s: Seconds
    wake_s: Seconds


class SleepStates(DatasheetTable):
    """How a part falls asleep, step by step: the longer it is idle, the longer it takes to wake.

    The wake-up from `off` is what a power collapse costs.
    """

    light: SleepState | None = None
    deep: SleepState | None = None
    off: SleepState

    def wake_s(self, idle_s: float) -> float:
        """Return the time to wake from the deepest state that the part has reached."""
        states = (self.off, self.deep, self.light)
        reached = (state for state in states if state and idle_s > state.after_idle_s)
        return next((state.wake_s for state in reached), 0.0)


class BufferConversion(DatasheetTable):
    """The conversion of float buffers: the engine that runs it and its clocks per element."""

    engine: Literal["cpu", "dsp_scalar", "hvx"]
    clk_per_element: ClocksPerElement


class Entry(DatasheetTable):
    """The named parts of one call into the DSP.

    `power_collapse` says whether DSP and tensor engine lose their power when idle.
    Buffers of `mapped_from_bytes` and more are mapped for the call, each in `buffer_s`; smaller
    ones are part of the message.
    """

    power_collapse: bool
    rpc: RpcModes
    mapped_from_bytes: Bytes
    buffer_s: Seconds
    buffer_s_per_byte: SecondsPerByte
    cache_s_per_byte: SecondsPerByte
    cpu_wake: SleepStates
    dsp_wake: SleepStates
    hta_wake: SleepStates
    input_conversion: BufferConversion
    output_conversion: BufferConversion


class Application(DatasheetTable):
    """The application's side of a call: copying float buffers into and out of the runtime's."""

    copy_s_per_element: SecondsPerElement


class Dispatch(DatasheetTable):
    """Costs of a graph on the DSP: per inference, per node, and per worker that a node wakes.

    A dense convolution takes `convolution_clk` beyond that, before its workers begin.
    """

    max_vector_workers: Count
    inference_clk: Clocks
    node_clk: Clocks
    convolution_clk: Clocks = 0.0
    hand_off_clk: Clocks


class Qurt(DatasheetTable):
    """The operating system of the DSP: a context switch, waking a thread that waits on a futex, and
    taking a job from a queue or a free lock without a system call."""

    context_switch_clk: Clocks
    wake_clk: Clocks
    fast_path_packets: Packets


class Kernels(DatasheetTable):
    """The kernel library.

    `stall_factor` lengthens loops with operands of scalar loads, `depthwise_stall_v66` the vector
    loops of depthwise convolutions on V66. `matrix_rows` says whether the rows of a fully
    connected layer are computed together, or each after the other with all weights.

    `operator_workers` is the most workers that an element-wise layer, a pooling or a concat uses.
    With `waits_for_loads` the loop of a sum or product, which is written in C, waits for each of
    its operands to come from L2. `products` says how tensors are multiplied: "prefetched" as other
    element-wise layers; "one worker" and "each slice" without a prefetch, so that the loads of the
    loop bring from DDR what is not in L2. With "each slice" the workers share the rows of 32
    channels, and the next ones wait for the last worker. A softmax is scalar code of
    `softmax_packets` an element on the main thread; with 0 it has vector loops.
    """

    generation: Literal["hexagon-nn"]
    stall_factor: Ratio
    depthwise_stall_v66: Ratio
    matrix_rows: Literal["together", "each"]
    operator_workers: Count
    waits_for_loads: bool = False
    products: Literal["prefetched", "one worker", "each slice"] = "prefetched"
    softmax_packets: Packets | Literal[0] = 0


class Fusions(DatasheetTable):
    """The functions of several operators of which the release's converter makes one layer.

    A function that is not named here runs as the layers of which it is made.
    """

    functions: tuple[FusedFunction, ...]


class Partitioning(DatasheetTable):
    """Rules of the partitioner, most of them of AIP, and the cost of a boundary between subnets.

    `operators` is the family whose table says which layers its runtimes support
    (`hexsim.datasheets.operators`), `release` its number in that family, if it is an early one.
    The HTA takes network inputs of at most `hta_input_channels` channels, None for any number,
    and elementwise layers with a constant operand only with `hta_constants` (SNPE 1.43 and later).
    Activations of 16 bits run on the HTA since SNPE 1.34. A subnet on it costs `hta_subnet_s`, and
    `hta_tensor_s` for each tensor at its edges that is large enough to be mapped
    (`entry.mapped_from_bytes`); the engine spends `hta_layer_s` on sequencing a layer.
    With `hta_rows` "each", every row of a fully connected layer is an execution of its own.
    """

    rules: PartitionRules
    operators: str
    release: Release | None = None
    hta_input_channels: Count | None = None
    hta_constants: bool = False
    hta_activation_bits: tuple[int, ...] = (8,)
    hta_subnet_s: Seconds
    hta_tensor_s: Seconds
    hta_layer_s: Seconds
    hta_rows: Literal["together", "each"] = "together"
    hnn_subnet_s: Seconds


class Quantization(DatasheetTable):
    """Defaults of the release's quantiser, and limits of its runtimes.

    `activation_bits` is the widest fixed-point activation that its DSP runtimes compute with.
    """

    min_range: Real
    activation_bits: Bits


class Load(DatasheetTable):
    """The cost of initialising a network, before the first inference.

    `float_on_dsp` is what the DSP runtime does with a file that is not quantised. Dequantising
    takes `dequantize_s_per_element` more than reading the floats would have taken. Releasing the
    layers takes `release_share` of the time of creating them.
    """

    float_on_dsp: Literal["quantise", "refuse"]
    file_bytes_per_s: BytesPerSecond
    deserialize_s_per_byte: SecondsPerByte
    create_s_per_layer: Seconds
    quantize_s_per_element: SecondsPerElement
    dequantize_s_per_element: SecondsPerElement
    release_share: Fraction


class CpuRuntime(DatasheetTable):
    """Share of the CPU's peak that a layer class reaches, and the cost of one layer."""

    layer_s: Seconds
    convolution_efficiency: Fraction
    depthwise_efficiency: Fraction
    fully_connected_efficiency: Fraction
    other_efficiency: Fraction


class CpuClasses(DatasheetTable):
    """Share of the CPU's peak that a release's own code reaches, by layer class.

    A class that is left out (None) reaches the share of [cpu]. A function with an exponential in it
    takes one thread `function_clk_per_element`; None counts it like other element-wise layers.
    An inference takes `outside_s` more than its layers, outside forward propagate; None: nothing.
    """

    convolution_efficiency: Fraction | None = None
    depthwise_efficiency: Fraction | None = None
    fully_connected_efficiency: Fraction | None = None
    other_efficiency: Fraction | None = None
    function_clk_per_element: ClocksPerElement | None = None
    outside_s: Seconds | None = None


class CpuSoftware(CpuClasses):
    """The efficiency of the CPU runtimes of a release, from its published times.

    [cpu] has the shares that good software would reach. Shares of this table hold for both
    runtimes, those of `floats` for cpu only, those of `codes` for fxp_cpu.
    """

    floats: CpuClasses = CpuClasses()
    codes: CpuClasses = CpuClasses()


class GpuRuntime(DatasheetTable):
    """Share of the GPU's peak that layers reach, and the cost of one layer.

    Of the cost of a layer, `kernel_s` is inside the time that a profile states for it, and the rest
    is between the layers, where the GPU waits for the next launch; None means all of it.
    A softmax moves `softmax_bytes_per_element` beside its tensors. A layer with windows takes the
    time of `unfilled_texels_per_lane` more, because its first and last texels do not fill the GPU.
    """

    layer_s: Seconds
    kernel_s: Seconds | None = None
    efficiency: Fraction
    softmax_bytes_per_element: BytesPerElement | Literal[0] = 0
    unfilled_texels_per_lane: TexelsPerLane = 0


class HtpCalls(DatasheetTable):
    """The way of a call from the CPU to the tensor processor and back, by the QoS of a profile."""

    none: Seconds
    adaptive: Seconds
    pm_qos: Seconds
    polling: Seconds

    def of(self, profile: Profile) -> float:
        """Return the seconds under a profile."""
        seconds: float = getattr(self, profile.qos)
        return seconds


class HtpRuntime(DatasheetTable):
    """Costs of a compiled graph on a tensor processor: clocks per graph and per operation.

    A call from the CPU takes `call_s` beside the start of the graph.
    `crossing_s` is the time between a graph and layers of the same network on the CPU, one way.
    A softmax of 16-bit codes costs as much as `softmax_vectors` operations of HVX on each vector of
    its result, one of half floats as `float_softmax_vectors`, a product of two tensors as
    `ordered_vectors` on each vector of its second operand for each block of rows, weights that are
    codes beside floats as `unpacked_vectors` on each vector of floats that they become. Between the
    parts of a split model the runtime takes `part_s`.

    Preparing a graph takes a CPU `prepare_s_per_layer`. A context binary has
    `binary_bytes_per_layer` of records beside the weights. In memory a layer of the graph takes
    `memory_bytes_per_layer`, and the process with its libraries `process_bytes`.
    """

    graph_clk: Clocks
    call_s: HtpCalls
    crossing_s: Seconds
    operator_clk: Clocks
    softmax_vectors: Ratio
    float_softmax_vectors: Ratio
    ordered_vectors: Ratio
    unpacked_vectors: Ratio
    part_s: Seconds
    prepare_s_per_layer: Seconds
    binary_bytes_per_layer: Bytes
    memory_bytes_per_layer: Bytes
    process_bytes: Bytes


class Stack(Datasheet):
    """One software release, from the API call down to the kernel library."""

    runtimes: tuple[Runtime, ...]
    default_profile: Annotated[str, Checked(_unless_profile)]
    buffer_types: Annotated[tuple[BufferType, ...], Meta(min_length=1)]
    profiles: Profiles
    application: Application
    entry: Entry
    dispatch: Dispatch
    qurt: Qurt
    kernels: Kernels
    fusions: Fusions
    partitioning: Partitioning
    quantization: Quantization
    load: Load
    cpu: CpuRuntime
    cpu_software: CpuSoftware | None = None
    gpu: GpuRuntime
    htp_table: HtpRuntime | None = field(default=None, name="htp")

    @property
    def htp(self) -> HtpRuntime:
        """The cost of a graph on a tensor processor; raises HexsimError if the file has none."""
        if self.htp_table is None:
            raise HexsimError(f"stack {self.name} states no [htp] data")
        return self.htp_table

    @property
    def operators(self) -> Operators:
        """The layers that its runtimes support; raises HexsimError if its family is unknown."""
        rules = self.partitioning
        return Operators.of(rules.operators, self.name, rules.release)

    def taking(self, operators: str) -> Self:
        """Return the release with the operators of another family, such as "any"."""
        tree = self.tree
        tree["partitioning"]["operators"] = operators
        return self.from_tree(tree, self.name)

    def buffer(self, name: str | None = None) -> BufferType:
        """Return a buffer type by name, by default the first one listed."""
        known = {kind: kind for kind in self.buffer_types}
        if name is not None and name not in known:
            raise unknown(f"buffer type of {self.name}", name, known)
        return known[name] if name else self.buffer_types[0]

    def profile(self, name: str | None = None) -> Profile:
        """Return a performance profile by name, by default the stack's own."""
        name = name or self.default_profile
        if name not in PROFILES:
            raise unknown("performance profile", name, PROFILES)
        profile: Profile = getattr(self.profiles, name)
        return profile

    def without_power_collapse(self) -> Self:
        """Return the release with DSP and tensor engine awake at every call."""
        tree = self.tree
        tree["entry"]["power_collapse"] = False
        return self.from_tree(tree, self.name)

    def with_ideal_cpu(self) -> Self:
        """Return the release with CPU runtimes of good efficiency, those of [cpu]."""
        tree = {key: node for key, node in self.tree.items() if key != "cpu_software"}
        return self.from_tree(tree, self.name)

    def cpu_efficiency(self, layers: CpuClass, *, floats: bool) -> float:
        """Return the share of the CPU's peak that a class of layers reaches in floats or codes."""
        name = f"{layers}_efficiency"
        shares = (getattr(table, name) for table in (*self._software(floats=floats), self.cpu))
        return float(next(share for share in shares if share is not None))

    def cpu_function_clk(self, *, floats: bool) -> float | None:
        """Return the clocks per element of a function with an exponential, None if not known."""
        known = (table.function_clk_per_element for table in self._software(floats=floats))
        return next((clocks for clocks in known if clocks is not None), None)

    def cpu_outside_s(self, *, floats: bool) -> float:
        """Return the seconds of an inference on the CPU that are outside forward propagate."""
        known = (table.outside_s for table in self._software(floats=floats))
        return next((seconds for seconds in known if seconds is not None), 0.0)

    def _software(self, *, floats: bool) -> tuple[CpuClasses, ...]:
        """Return the tables of the release's own CPU code, the most special one first."""
        software = self.cpu_software
        return () if software is None else (software.floats if floats else software.codes, software)

    def require(self, runtime: Runtime) -> None:
        """Raise HexsimError if the release has no such runtime."""
        if runtime not in self.runtimes:
            raise HexsimError(
                f"stack {self.name} has no {runtime} runtime; it has {', '.join(self.runtimes)}"
            )
        if runtime in ("htp", "htp_fp16"):
            _ = self.htp


_SHELF = Shelf(Stack, "stack", Path(__file__).parent)
names, load = _SHELF.names, _SHELF.load


def that_have(layer: str, variant: str, of: Column) -> tuple[str, ...]:
    """List the built-in stacks that are published, not assumed, to support a layer."""
    verdicts = {
        operators.name: operators.verdict(layer, variant, of)
        for operators, columns in _operators()
        if of in columns
    }
    return tuple(name for name, verdict in verdicts.items() if verdict and verdict.taken)


@cache
def _operators() -> tuple[tuple[Operators, frozenset[Column | None]], ...]:
    """Return the operators of each stack, and the columns of the runtimes that it has."""
    known = map(load, names())
    return tuple((stack.operators, frozenset(map(column, stack.runtimes))) for stack in known)
