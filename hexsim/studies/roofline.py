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

from collections import Counter
from collections.abc import Sequence

from hexsim.deployment.platform import Platform
from hexsim.records import dataclass
from hexsim.results.roofline import MemoryRoof, Roofline, RooflinePoint
from hexsim.runtimes import Engine, Runtime
from hexsim.simulation.phone import Phone
from hexsim.texts.fields import taken
from hexsim.timing.picoseconds import PS_PER_SECOND, PS_PER_US
from hexsim.timing.results import LayerTiming, Result

FLOPS_PER_MAC = 2


@dataclass(frozen=True)
class Roofs:
    """The limits of an engine: multiply-adds and bytes per second."""

    engine: Engine
    peak_name: str
    peak_macs_per_s: float
    memories: tuple[MemoryRoof, ...]

    def over(self, layer: LayerTiming) -> RooflinePoint:
        """Return a layer under its lowest roof."""
        moved = {"ddr": layer.ddr_bytes, "l2": layer.l2_bytes}
        roofs = {self.peak_name: self.peak_macs_per_s}
        for memory in self.memories:
            if memory.is_limit and moved[memory.level]:
                roofs[memory.name] = memory.bytes_per_s * layer.macs / moved[memory.level]
        name = min(roofs, key=lambda roof: roofs[roof])
        rate = layer.macs * PS_PER_SECOND / layer.duration_ps
        return taken(
            RooflinePoint,
            layer,
            ddr_macs_per_byte=layer.macs / layer.ddr_bytes if layer.ddr_bytes else None,
            l2_macs_per_byte=layer.macs / layer.l2_bytes if layer.l2_bytes else None,
            macs_per_s=rate,
            roof=name,
            roof_macs_per_s=roofs[name],
            lost_us=layer.duration_ps * (1 - rate / roofs[name]) / PS_PER_US,
        )


def roofline(
    timing: Result, platform: Platform, runtime: Runtime, perf_profile: str | None = None
) -> Roofline | None:
    """Put the layers of an inference under the roofs of the engine of its runtime.

    None if no layer that multiplies takes time on that engine.
    """
    roofs = _roofs(timing.layers, platform, runtime, perf_profile)
    on_chart = [
        layer
        for layer in timing.layers
        if layer.engine == roofs.engine and layer.macs and layer.duration_ps
    ]
    if not on_chart:
        return None
    points = [roofs.over(layer) for layer in on_chart]
    return taken(
        Roofline,
        roofs,
        points=tuple(sorted(points, key=lambda point: -point.lost_us)),
        other_layers=len(timing.layers) - len(on_chart),
        other_share=1 - sum(layer.duration_ps for layer in on_chart) / timing.total_ps,
    )


def _roofs(
    layers: Sequence[LayerTiming], platform: Platform, runtime: Runtime, perf_profile: str | None
) -> Roofs:
    chip, stack = platform.chip, platform.stack
    if runtime in ("dsp", "aip"):
        phone = Phone(chip, stack, [stack.profile(perf_profile)])
        return _tensor_roofs(phone) if _mostly_on_hta(layers) else _vector_roofs(phone)
    if runtime in ("htp", "htp_fp16"):
        phone = Phone(chip, stack, [stack.profile(perf_profile)])
        peak = phone.htp.macs_in(PS_PER_SECOND, floats=runtime == "htp_fp16")
        return Roofs("htp", "HMX", peak, (_ddr(phone.ddr.rule.bytes_per_second),))
    if runtime in ("gpu", "gpu_fp16"):
        gpu = chip.gpu
        peak = gpu.clock_hz * gpu.fp32_flops_per_clk / FLOPS_PER_MAC
        return Roofs("gpu", "GPU", peak, (_ddr(gpu.bandwidth_bytes_per_s),))
    cpu = chip.cpu
    is_fixed = runtime == "fxp_cpu"
    peak = cpu.cores * cpu.clock_hz * (cpu.int8_macs_per_clk if is_fixed else cpu.fp32_macs_per_clk)
    return Roofs("cpu", "CPU", peak, (_ddr(cpu.bandwidth_bytes_per_s),))


def _ddr(bytes_per_s: float, name: str = "DDR", *, is_limit: bool = True) -> MemoryRoof:
    return MemoryRoof(name=name, level="ddr", bytes_per_s=bytes_per_s, is_limit=is_limit)


def _mostly_on_hta(layers: Sequence[LayerTiming]) -> bool:
    macs = Counter[str]()
    for layer in layers:
        macs[layer.engine] += layer.macs
    return macs["hta"] > macs["hvx"]


def _tensor_roofs(phone: Phone) -> Roofs:
    ddr = _ddr(phone.dsp.ddr.rule.bytes_per_second)
    one_way = _ddr(phone.hta.bytes_per_s, "one way", is_limit=False)
    return Roofs("hta", "HTA", phone.hta.macs_in(PS_PER_SECOND), (ddr, one_way))


def _vector_roofs(phone: Phone) -> Roofs:
    dsp = phone.dsp
    rule = dsp.ddr.rule
    l2_bytes_per_s = dsp.core.rule.l2_bytes_per_clock * dsp.clock_hz
    macs_per_slot = dsp.rule.workers * dsp.peak_macs_per_packet
    return Roofs(
        "hvx",
        "HVX",
        macs_per_slot / dsp.core.rule.clocks_per_packet * dsp.clock_hz,
        (
            _ddr(rule.bytes_per_second),
            _ddr(rule.stream_bytes_per_second, "one stream", is_limit=False),
            MemoryRoof(name="L2", level="l2", bytes_per_s=l2_bytes_per_s),
        ),
    )
