"""The roofline of a network on an engine: the rate of each layer, and its limit.

The intensity of a layer is its multiply-adds per byte moved. It cannot run faster than the engine
multiplies or a memory delivers the bytes. The roofs are the chip's at the clocks and the bus share
of the performance profile; for the vector unit:

- HVX: every vector worker issues a packet of multiplies each time it may issue one;
- DDR: the bandwidth that the profile votes for; one stream: as much of it as one prefetch gets
  with its bytes in flight. Only the whole bandwidth counts as a limit;
- L2: the port between L2 and the vector contexts, for the bytes that cross it.

For the tensor engine they are the array with every lane filled, and DDR; "one way" is the rate of
its port in one direction, both of which work at the same time. Runtime aip has both engines: the
roofs are those of the engine with most of the multiply-adds.

For the tensor processor they are HMX with every tile full, in codes or in float16, and DDR.

A layer that most of its time computes, far below the roofs, has instructions that multiply less
than the engine's best: it is bound by a roof of its own, the rate of those instructions alone.

The loss of a layer is its time beyond the lowest roof over it. CPU and GPU have one memory roof.
Layers without multiply-adds, and layers on other engines, are not in the chart; their share of the
time is stated.
"""

import math
from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass

from hexsim.deployment.platform import Platform
from hexsim.errors import HexsimError
from hexsim.simulation.phone import Phone, PhoneDsp
from hexsim.studies.benchmark import Case
from hexsim.timing.results import Bound, LayerTiming
from hexsim.timing.simtime import PS_PER_SECOND, PS_PER_US

FLOPS_PER_MAC = 2
_MEMORY_OF: Mapping[Bound, str] = {"ddr": "ddr", "latency": "ddr", "l2": "l2"}


@dataclass(frozen=True)
class MemoryRoof:
    """A memory that limits layers by the bytes it moves; `level` is "ddr" or "l2"."""

    name: str
    level: str
    bytes_per_s: float
    is_limit: bool = True


@dataclass(frozen=True)
class Roofs:
    """The limits of an engine: multiply-adds and bytes per second."""

    engine: str
    peak_name: str
    peak_macs_per_s: float
    memories: tuple[MemoryRoof, ...]

    def over(self, layer: LayerTiming) -> tuple[str, float]:
        """Return the lowest roof over a layer: its name and multiply-adds per second."""
        moved = {"ddr": layer.ddr_bytes, "l2": layer.l2_bytes}
        roofs = {self.peak_name: self.peak_macs_per_s}
        for memory in self.memories:
            if memory.is_limit and moved[memory.level]:
                roofs[memory.name] = memory.bytes_per_s * layer.macs / moved[memory.level]
        name = min(roofs, key=lambda roof: roofs[roof])
        return name, roofs[name]


@dataclass(frozen=True)
class RooflinePoint:
    """A layer under the roofs. Intensities are in multiply-adds per byte, infinite without any."""

    layer: LayerTiming
    roof: str
    roof_macs_per_s: float

    @property
    def macs_per_s(self) -> float:
        """Multiply-adds per second of the layer."""
        return self.layer.macs * PS_PER_SECOND / self.layer.duration_ps

    @property
    def ddr_intensity(self) -> float:
        """Multiply-adds per byte from and to DDR."""
        return self.layer.macs / self.layer.ddr_bytes if self.layer.ddr_bytes else math.inf

    @property
    def l2_intensity(self) -> float:
        """Multiply-adds per byte through the port of L2."""
        return self.layer.macs / self.layer.l2_bytes if self.layer.l2_bytes else math.inf

    @property
    def place(self) -> float:
        """The intensity at which a layer is drawn: at the memory of its bound, else of its roof."""
        intensities = {"ddr": self.ddr_intensity, "l2": self.l2_intensity}
        level = _MEMORY_OF.get(self.layer.bound, self.roof.lower())
        chosen = intensities.get(level, math.inf)
        return chosen if math.isfinite(chosen) else min(intensities.values())

    @property
    def own_macs_per_s(self) -> float:
        """The rate that the layer would reach if its time went on nothing but its bound."""
        return self.macs_per_s / (self.layer.bound_share or 1.0)

    @property
    def share_of_roof(self) -> float:
        """The layer's rate relative to the lowest roof over it, 0 .. 1."""
        return self.macs_per_s / self.roof_macs_per_s

    @property
    def lost_us(self) -> float:
        """Time that the layer would save at its roof, in microseconds."""
        return self.layer.duration_ps * (1 - self.share_of_roof) / PS_PER_US


@dataclass(frozen=True)
class Roofline:
    """All layers of one inference that multiply, those with the largest loss first.

    `other_layers` is the number of layers that do not multiply or run elsewhere; with everything
    that is no layer they take `other_share` of the total time.
    """

    case: Case
    roofs: Roofs
    points: tuple[RooflinePoint, ...]
    other_layers: int
    other_share: float


def roofline(case: Case, platform: Platform) -> Roofline:
    """Put the layers of a case under the roofs of the engine of its runtime.

    Raises HexsimError if no layer is on that engine.
    """
    roofs = _roofs(case, platform)
    layers = case.timing.layers
    on_chart = [layer for layer in layers if layer.engine == roofs.engine and layer.macs]
    if not on_chart:
        raise HexsimError(
            f"{case.network} has no layer that multiplies on {roofs.engine.upper()} with runtime "
            f"{case.runtime}; give another --runtime"
        )
    points = [RooflinePoint(layer, *roofs.over(layer)) for layer in on_chart]
    shown_ps = sum(layer.duration_ps for layer in on_chart)
    return Roofline(
        case,
        roofs,
        tuple(sorted(points, key=lambda point: -point.lost_us)),
        len(layers) - len(on_chart),
        1 - shown_ps / case.timing.total_ps,
    )


def _roofs(case: Case, platform: Platform) -> Roofs:
    chip, stack = platform.chip, platform.stack
    if case.runtime in ("dsp", "aip"):
        phone = Phone(chip, stack, [stack.profile(case.perf_profile)])
        return _tensor_roofs(phone) if _mostly_on_hta(case) else _vector_roofs(phone.dsp)
    if case.runtime in ("htp", "htp_fp16"):
        phone = Phone(chip, stack, [stack.profile(case.perf_profile)])
        peak = phone.htp.macs_in(PS_PER_SECOND, floats=case.runtime == "htp_fp16")
        ddr = MemoryRoof("DDR", "ddr", phone.ddr.rule.bytes_per_second)
        return Roofs("htp", "HMX", peak, (ddr,))
    if case.runtime in ("gpu", "gpu_fp16"):
        gpu = chip.gpu
        peak = gpu.clock_hz * gpu.fp32_flops_per_clk / FLOPS_PER_MAC
        return Roofs("gpu", "GPU", peak, (MemoryRoof("DDR", "ddr", gpu.bandwidth_bytes_per_s),))
    cpu = chip.cpu
    is_fixed = case.runtime == "fxp_cpu"
    peak = cpu.cores * cpu.clock_hz * (cpu.int8_macs_per_clk if is_fixed else cpu.fp32_macs_per_clk)
    return Roofs("cpu", "CPU", peak, (MemoryRoof("DDR", "ddr", cpu.bandwidth_bytes_per_s),))


def _mostly_on_hta(case: Case) -> bool:
    macs = Counter[str]()
    for layer in case.timing.layers:
        macs[layer.engine] += layer.macs
    return macs["hta"] > macs["hvx"]


def _tensor_roofs(phone: Phone) -> Roofs:
    ddr = phone.dsp.ddr.rule
    return Roofs(
        "hta",
        "HTA",
        phone.hta.macs_in(PS_PER_SECOND),
        (
            MemoryRoof("DDR", "ddr", ddr.bytes_per_second),
            MemoryRoof("one way", "ddr", phone.hta.bytes_per_s, is_limit=False),
        ),
    )


def _vector_roofs(dsp: PhoneDsp) -> Roofs:
    return Roofs(
        "hvx",
        "HVX",
        dsp.rule.workers
        * dsp.peak_macs_per_packet
        / dsp.core.rule.clocks_per_packet
        * dsp.clock_hz,
        (
            MemoryRoof("DDR", "ddr", dsp.ddr.rule.bytes_per_second),
            MemoryRoof("one stream", "ddr", dsp.ddr.rule.stream_bytes_per_second, is_limit=False),
            MemoryRoof("L2", "l2", dsp.core.rule.l2_bytes_per_clock * dsp.clock_hz),
        ),
    )
