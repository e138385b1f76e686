"""Chips: the Snapdragons that ship with hexsim, and chip files of the user; hardware only.

Modelled: the DSP that owns HVX, its memory, the CPU and GPU beside it, the tensor engine (HTA), and
the tensor processor (HTP) of later chips. If a file has no table for a part, the chip lacks it or
its data is not known; such a chip can be loaded and listed, but reading the table raises an error.
Left out: temperature, energy (hexsim.datasheets.energies), and all that software decides
(hexsim.datasheets.stacks).

Dense convolutions by signed weights: Hexagon NN has such kernels for V65 and V66. They read the
weights of 32 output channels (a slice) from VTCM, so a layer whose slice does not fit there runs
the kernel of V60, which takes unsigned codes with a zero point; so does a layer with a stride above
2 along the width on V66. First layers, depthwise convolutions and fully connected layers take
unsigned codes on every version. This is the one place that decides it, for values and for times.
Source: Hexagon NN, op_supernode_new.c, supernode_check, and its output codes (tests/hexagon_nn).
That the tensor processor of V68 and later takes the codes as they are is assumed.
"""

from collections.abc import Mapping
from itertools import islice
from pathlib import Path
from typing import Literal, Self, TypeVar

from msgspec import field

from hexsim.datasheets.datasheet import Datasheet, DatasheetTable, Shelf, set_by_caller
from hexsim.datasheets.quantity import (
    Bits,
    Bytes,
    BytesPerClock,
    BytesPerSecond,
    Clocks,
    ClocksPerPacket,
    Count,
    FlopsPerClock,
    Fraction,
    Hertz,
    InFlight,
    MacsPerClock,
    Packets,
    Quantity,
    Ratio,
    Seconds,
    SomeBytes,
    Threads,
)
from hexsim.datasheets.texts import chip_name
from hexsim.errors import HexsimError, spelled, unknown
from hexsim.records import dataclass
from hexsim.runtimes import DEFAULT_CHIP, RUNTIMES, Runtime
from hexsim.texts.tables import tree_of

_FIRST_VERSION = 65
MOST_FIRST_LAYER_CHANNELS = 4
"""Input channels up to which the kernel of first layers is used."""
_SLICE = 32
"""Output channels whose weights are copied to VTCM together; channels of the input are padded to
a multiple of it."""
_STRIDE_LIMITED_FROM = 66
_LARGEST_STRIDE = 2


@dataclass(frozen=True)
class SignedKernels:
    """The convolution kernels of a vector unit: its version, e.g. 66, and bytes of its VTCM."""

    version: int
    vtcm_bytes: int

    @classmethod
    def of(cls, version: int, vtcm_bytes: int) -> Self | None:
        """Return the kernels of an architecture version, None before V65."""
        return cls(version, vtcm_bytes) if version >= _FIRST_VERSION else None

    def take(self, kernel: tuple[int, int], channels: int, stride: int) -> bool:
        """Return whether a dense convolution multiplies by signed weights.

        `kernel` is (height, width), `channels` are those of the input, in one group, and `stride`
        is that along the width.
        """
        if channels <= MOST_FIRST_LAYER_CHANNELS:
            return False
        if self.version >= _STRIDE_LIMITED_FROM and stride > _LARGEST_STRIDE:
            return False
        return slice_bytes(kernel, channels) <= self.vtcm_bytes


def slice_bytes(kernel: tuple[int, int], channels: int) -> int:
    """Return the bytes of the weights of 32 output channels; biases are elsewhere."""
    padded = -(-channels // _SLICE) * _SLICE
    return kernel[0] * kernel[1] * padded * _SLICE


Arch = Literal["v60", "v62", "v65", "v66"]
"""Versions whose threads and vector unit are modelled."""
HtpArch = Literal["v68", "v69", "v73", "v75", "v79", "v81"]
"""Versions with a tensor processor."""


def version(arch: Arch | HtpArch) -> int:
    """Return the architecture as a number, e.g. 66."""
    return int(arch.removeprefix("v"))


Multithreading = Literal["dynamic", "barrel"]
Corner = Literal["turbo_l1", "turbo", "nominal_plus", "svs"]


class ClockTable(DatasheetTable):
    """Core clock at each voltage corner, in Hz."""

    turbo_l1: Hertz
    turbo: Hertz
    nominal_plus: Hertz
    svs: Hertz


class Hvx(DatasheetTable):
    """The vector unit of the whole DSP; pipes and ports are those that one packet may use."""

    contexts: Threads
    vector_bytes: Bytes
    int8_macs_per_clk: MacsPerClock
    multiply_pipes: Count
    shift_pipes: Count
    permute_pipes: Count
    load_ports: Count
    store_ports: Count


class Dsp(DatasheetTable):
    """The Hexagon that owns HVX: threads, clocks and its own memories.

    `l2_audio_bytes` of the L2 are not available while audio runs on the same DSP; `vtcm_bytes` is 0
    before V65, `copy_bytes_per_clk` the rate of the unit that copies weights to it on V66,
    `activation_bits` the widest fixed-point activations. A thread issues one packet per
    `issue_clk_per_packet`; a scalar thread alone in its cluster runs `lone_thread_speedup` times as
    fast. On a `barrel` (before V5) each thread issues one packet per rotation of all hardware
    threads instead.
    """

    name: str
    arch: Arch
    owner: Literal["adsp", "cdsp"]
    hardware_threads: Threads
    clusters: Count
    multithreading: Multithreading
    issue_clk_per_packet: ClocksPerPacket
    lone_thread_speedup: Ratio
    scalar_multipliers: Count
    scalar_multipliers_shared: bool
    jump_penalty_packets: Packets
    l2_bytes: Bytes
    l2_audio_bytes: Bytes
    l2_port_bytes_per_clk: BytesPerClock
    l2_latency_clk: Clocks
    vtcm_bytes: Bytes
    copy_bytes_per_clk: BytesPerClock
    clocks_hz: ClockTable
    hvx: Hvx
    activation_bits: Bits

    @property
    def signed_kernels(self) -> SignedKernels | None:
        """The kernels that multiply by signed weights; None before V65."""
        return SignedKernels.of(version(self.arch), self.vtcm_bytes)

    def clock_hz(self, corner: Corner) -> float:
        """Return the core clock at a voltage corner."""
        return float(getattr(self.clocks_hz, corner))


class Memory(DatasheetTable):
    """DDR from the engines' side. A DSP stream has at most `stream_bytes_in_flight`.

    `dsp_latency_s` is the latency at the full bus clock; `latency_bus_share` of it is spent in
    parts with the clock of bus and DDR, and grows if a profile votes for a lower clock.
    """

    ddr_type: str
    ddr_peak_bytes_per_s: BytesPerSecond
    efficiency: Fraction
    dsp_latency_s: Seconds
    latency_bus_share: Fraction
    stream_bytes_in_flight: InFlight
    io_coherence: Literal["none", "one_way"]

    def latency_s(self, bus_vote: float) -> float:
        """Return the latency of an access at a share of the bus clock."""
        share = self.latency_bus_share
        return self.dsp_latency_s * (1.0 - share + share / bus_vote)


class Cpu(DatasheetTable):
    """The big cores that a runtime uses; rates are per core, the bandwidth is that of all cores.

    `copy_bytes_per_clk` are the bytes that a core reads and writes while it copies.
    """

    name: str
    cores: Count
    clock_hz: Hertz
    fp32_macs_per_clk: MacsPerClock
    int8_macs_per_clk: MacsPerClock
    bandwidth_bytes_per_s: BytesPerSecond
    copy_bytes_per_clk: BytesPerClock


class Gpu(DatasheetTable):
    """The GPU; a multiply-add counts as two FLOPs. `latency_s` is that of a read from DDR."""

    name: str
    clock_hz: Hertz
    fp32_flops_per_clk: FlopsPerClock
    fp16_flops_per_clk: FlopsPerClock
    bandwidth_bytes_per_s: BytesPerSecond
    latency_s: Seconds


class Hta(DatasheetTable):
    """The tensor accelerator.

    Its MACs are arranged as `depth_lanes` inputs by `channel_lanes` output channels by as many
    pixels as `macs_per_clk` allows; a stage after them moves `stage_bytes_per_clk` codes.
    Each command takes `command_clk`; `int16_rate` is the speed with 16-bit activations relative to
    8-bit. The local memory supplies the array with at most `feed_bytes_per_clk` of activations;
    what does not stay in it is fetched again at `refetch_bytes_per_clk`. The clock follows the
    corner that a profile votes for.
    """

    macs_per_clk: MacsPerClock
    depth_lanes: Count
    channel_lanes: Count
    stage_bytes_per_clk: BytesPerClock
    command_clk: Clocks
    clocks_hz: ClockTable
    feed_bytes_per_clk: BytesPerClock
    int16_rate: Fraction
    local_bytes: SomeBytes
    ddr_port_bytes_per_clk: BytesPerClock
    refetch_bytes_per_clk: BytesPerClock

    @property
    def kept_bytes(self) -> int:
        """The half of the local memory that holds activations between layers."""
        return self.local_bytes // 2

    def clock_hz(self, corner: Corner) -> float:
        """Return the clock at a voltage corner."""
        return float(getattr(self.clocks_hz, corner))


class Htp(DatasheetTable):
    """The tensor processor: a matrix engine (HMX), HVX and VTCM at one clock.

    Full tiles reach the share `hmx_share` of the peak in multiply-adds. `vector_clk` is the time of
    four of its `hvx_contexts` for a vector of 128 bytes, `broadcast_vector_clk` for one of an image
    with few channels or beside an operand that repeats, `row_vector_clk` for one of a matrix beside
    an operand that all of its rows share, `regrouped_vector_clk` for one of the tensors of a
    convolution with groups, of the result of a depthwise one or of a shuffle of channels. `pace` is
    the speed of all its parts but DMA over what these constants give: one figure of a chip that
    measured networks may fix. In floats HVX takes `float_factor` times as long,
    `float_function_factor` for functions of one number, and `float_tap_instructions` for each tap
    of a depthwise convolution.
    All threads together issue `packets_per_clk` and read `hvx_ddr_bytes_per_s` from DDR by L2,
    loads of one thread `stream_bytes_per_s`. `hardware_threads` in `clusters` issue a packet per
    `issue_clk_per_packet` each, vector work on one of `hvx_contexts`. These but the first two, and
    the constants of L2, are for code of the user.
    Left out: lower clocks of profiles.
    """

    arch: HtpArch
    clock_hz: Hertz
    pace: Ratio
    int8_macs_per_clk: MacsPerClock
    fp16_macs_per_clk: MacsPerClock
    hmx_share: Fraction
    vector_clk: Clocks
    broadcast_vector_clk: Clocks
    row_vector_clk: Clocks
    regrouped_vector_clk: Clocks
    port_vectors_per_clk: Ratio
    float_factor: Ratio
    float_function_factor: Ratio
    float_tap_instructions: Ratio
    vtcm_bytes: Bytes
    activation_bits: Bits
    hardware_threads: Threads
    clusters: Count
    hvx_contexts: Threads
    packets_per_clk: Ratio
    hvx_ddr_bytes_per_s: BytesPerSecond
    issue_clk_per_packet: ClocksPerPacket
    l2_bytes: Bytes
    l2_port_bytes_per_clk: BytesPerClock
    stream_bytes_per_s: BytesPerSecond


PACE = ("htp.clock_hz", "memory.ddr_peak_bytes_per_s")
"""The constants that a latency measured on a phone changes, both by one factor."""

LEAST_VTCM = 1 << 18
"""The smallest VTCM for a graph (assumed): with less, single rows of an image would be in doubt."""
_UNDIVIDED = ("v68", "v69")
"""Architectures whose graphs cannot share VTCM (QNN's guide, VTCM sharing: from V73 on, and on some
V69, which it does not name; documented)."""

TableT = TypeVar("TableT", bound=DatasheetTable)

_NEEDS: dict[Runtime, tuple[str, ...]] = {
    "cpu": ("cpu", "memory"),
    "fxp_cpu": ("cpu", "memory"),
    "gpu": ("gpu", "memory"),
    "gpu_fp16": ("gpu", "memory"),
    "dsp": ("dsp", "memory"),
    "aip": ("dsp", "hta", "memory"),
    "htp": ("htp", "memory"),
    "htp_fp16": ("htp", "memory"),
}


class Chip(Datasheet):
    """One Snapdragon. Its parts raise HexsimError when the file does not state them.

    `part_numbers` are Qualcomm's, in lower case, that of the SNPE tools first; `aliases` are other
    names, in lower case without blanks. `first_listed` is the earliest available SNPE guide that
    names the chip. `dsp_kind` is the kind of its DSP if
    there is no [dsp] table: "HTP V68", "none". `layer_factors` has, for a runtime, how many times
    as long the layers of a class take as they are simulated, where a user's profile says so.
    """

    part_numbers: tuple[str, ...] = ()
    aliases: tuple[str, ...] = ()
    first_listed: str = ""
    runtimes: tuple[Runtime, ...]
    default_stack: str
    note: str = ""
    dsp_kind: str = ""
    dsp_table: Dsp | None = field(default=None, name="dsp")
    memory_table: Memory | None = field(default=None, name="memory")
    cpu_table: Cpu | None = field(default=None, name="cpu")
    gpu_table: Gpu | None = field(default=None, name="gpu")
    hta_table: Hta | None = field(default=None, name="hta")
    htp_table: Htp | None = field(default=None, name="htp")
    layer_factors: dict[Runtime, dict[str, Ratio]] = field(default_factory=dict)

    @property
    def asic(self) -> str:
        """The part number for the SNPE tools, such as "sm8150", or "" if the file states none."""
        return self.part_numbers[0] if self.part_numbers else ""

    @property
    def dsp_words(self) -> str:
        """The kind of its DSP in the words of the SNPE guide: "CDSP V66", "HTP V68", "none"."""
        if self.dsp_table is None:
            return self.dsp_kind
        return f"{self.dsp_table.owner} {self.dsp_table.arch}".upper()

    @property
    def dsp(self) -> Dsp:
        """The Hexagon DSP."""
        return self._stated(self.dsp_table, "dsp")

    @property
    def memory(self) -> Memory:
        """The DDR memory."""
        return self._stated(self.memory_table, "memory")

    @property
    def cpu(self) -> Cpu:
        """The big CPU cores."""
        return self._stated(self.cpu_table, "cpu")

    @property
    def gpu(self) -> Gpu:
        """The Adreno GPU."""
        return self._stated(self.gpu_table, "gpu")

    @property
    def hta(self) -> Hta:
        """The tensor accelerator."""
        return self._stated(self.hta_table, "hta")

    @property
    def htp(self) -> Htp:
        """The tensor processor."""
        return self._stated(self.htp_table, "htp")

    def at_pace(self, slower: float, source: str, error: float = 0.0) -> Self:
        """Return the chip with tensor processor and DDR `slower` times as slow, by `source`.

        Both have bounds `error` (a natural logarithm) around them. `htp.pace`, a factor of both
        that was fitted to other rows, has then no error of its own.
        """
        known = dict(self.quantities())
        changes = {**dict.fromkeys(PACE, (slower, error)), "htp.pace": (1.0, 0.0)}
        return self.restated(
            {
                path: set_by_caller(known[path], known[path].value / factor, source, log_error)
                for path, (factor, log_error) in changes.items()
            }
        )

    def with_layer_factors(self, runtime: Runtime, factors: Mapping[str, Quantity]) -> Self:
        """Return the chip with these factors of classes of layers on a runtime."""
        tree = self.tree
        stated = {_key(name): tree_of(factor) for name, factor in factors.items()}
        tree.setdefault("layer_factors", {})[runtime] = stated
        return self.from_tree(tree, self.name)

    def layer_factor(self, runtime: Runtime, layer_class: str) -> float:
        """Return how many times as long a class of layers takes as it is simulated."""
        return self.layer_factors.get(runtime, {}).get(_key(layer_class), 1.0)

    def with_vtcm(self, megabytes: float, graphs: int = 1) -> Self:
        """Return the chip with this much VTCM for each of `graphs` that run at a time.

        That is the setting `vtcm_mb` of QNN and `vtcm_override` of SNPE. Raises HexsimError if
        the chip has no tensor processor or less VTCM, and if it does not divide VTCM.
        """
        size, has = megabytes * 2**20, self.htp.vtcm_bytes
        if graphs > 1 and self.htp.arch in _UNDIVIDED:
            raise HexsimError(
                f"graphs on {self.name} run one after another: VTCM is divided from V73 on, and it "
                f"has {self.htp.arch.upper()}"
            )
        if not LEAST_VTCM <= size <= has / graphs:
            each = f"each of {graphs} graphs" if graphs > 1 else "a graph"
            raise HexsimError(
                f"{megabytes:g} MB of VTCM for {each}: {self.name} has {has / 2**20:g} MB in all, "
                f"and a graph needs {LEAST_VTCM / 2**20:g} MB or more"
            )
        known = dict(self.quantities())["htp.vtcm_bytes"]
        limited = set_by_caller(known, size, f"the caller: {megabytes:g} MB")
        return self.restated({"htp.vtcm_bytes": limited})

    def signed_kernels(self, runtime: Runtime) -> SignedKernels | None:
        """Return the kernels of a runtime that multiply by signed weights, None without any."""
        return self.dsp.signed_kernels if runtime in ("dsp", "aip") else None

    def activation_bits(self, runtime: Runtime) -> int:
        """Return the widest fixed-point activations of a runtime on DSP or tensor processor."""
        return self.htp.activation_bits if runtime == "htp" else self.dsp.activation_bits

    def simulates(self, runtime: Runtime) -> bool:
        """Tell whether the chip has the runtime and states all data for its time."""
        return runtime in self.runtimes and not self._missing(runtime)

    def require(self, runtime: str) -> Runtime:
        """Return the runtime, or raise HexsimError saying why this chip cannot simulate it."""
        if runtime not in RUNTIMES:
            raise unknown("runtime", runtime, RUNTIMES)
        if refusal := self.refusal(runtime):
            raise HexsimError(f"{refusal}{_instead(self, runtime)}")
        return runtime

    def refusal(self, runtime: Runtime) -> str | None:
        """Return why this chip cannot simulate a runtime; None if it can."""
        if runtime not in self.runtimes:
            return f"chip {self.name} has no {runtime} runtime; it has {', '.join(self.runtimes)}"
        if not (missing := self._missing(runtime)):
            return None
        tables = " and ".join(f"[{table}]" for table in missing)
        reason = f" ({self.note})" if self.note else ""
        sentence = f"chip {self.name} cannot be simulated on {runtime}: its data for {tables}"
        return f"{sentence} is not known{reason}"

    def _missing(self, runtime: Runtime) -> list[str]:
        return [table for table in _NEEDS[runtime] if getattr(self, f"{table}_table") is None]

    def _stated(self, table: TableT | None, key: str) -> TableT:
        if table is None:
            raise HexsimError(f"chip {self.name} states no [{key}] data")
        return table


def _key(layer_class: str) -> str:
    """Return the key of a class of layers, in which a dot would begin another table."""
    return layer_class.replace(".", "_")


_SHELF = Shelf(Chip, "chip", Path(__file__).parent)
names = _SHELF.names


def load(name_or_path: str | Path) -> Chip:
    """Load a built-in chip by any of its names, or a chip file by its path (ends in .toml).

    Names are those of hexsim ("sd835") and Qualcomm ("Snapdragon 835", "8 Elite"), and the part
    number with or without its letters ("MSM8998", "8998"), in any case. Raises HexsimError for
    another name, with the nearest, and for a chip that has no datasheet, with one to take instead.
    """
    return _SHELF.load(chip_name(str(name_or_path)))


def _instead(chip: Chip, runtime: Runtime) -> str:
    """Return the end of a sentence on a runtime that a chip lacks: some chips that have it."""
    known = dict.fromkeys((DEFAULT_CHIP, *reversed(names())))
    having = (each for each in known if each != chip.name and load(each).simulates(runtime))
    first, *others = islice(having, 5)
    return f"; {spelled('chip', first)} has it, and {', '.join(others)}"
