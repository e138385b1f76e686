"""A roofline small enough to check by hand: three layers of one microsecond each."""

from __future__ import annotations

from hexsim.datasheets import chips
from hexsim.energy import inference_energy
from hexsim.memory import Footprint, LayerMemory
from hexsim.studies.benchmark import Case
from hexsim.studies.roofline import MemoryRoof, Roofline, RooflinePoint, Roofs
from hexsim.timing.results import Bound, InferenceTiming, LayerTiming, Overhead, Result, Timeline

ROOFS = Roofs(
    "hvx",
    "HVX",
    peak_macs_per_s=200e9,
    memories=(
        MemoryRoof("DDR", "ddr", 20e9),
        MemoryRoof("one stream", "ddr", 5e9, is_limit=False),
        MemoryRoof("L2", "l2", 100e9),
    ),
)


def layer(
    name: str, macs: int, ddr_bytes: int = 0, l2_bytes: int = 0, bound: Bound = "compute"
) -> LayerTiming:
    return LayerTiming(
        name=name,
        type="convolutional",
        engine="hvx",
        start_ps=0,
        duration_ps=1_000_000,
        clock_hz=1e9,
        macs=macs,
        packets=1,
        stalls=0,
        hvx_utilisation=0.5,
        ddr_read_bytes=ddr_bytes,
        ddr_write_bytes=0,
        l2_bytes=l2_bytes,
        vtcm_bytes=0,
        parts_ps={bound: 1_000_000},
        cost_model="kernel",
    )


LAYERS = (
    layer("dense", 100_000, ddr_bytes=1_000, l2_bytes=10_000),  # 100 GMAC/s of 200
    layer("thin", 8_000, ddr_bytes=8_000, l2_bytes=1_000, bound="latency"),  # 8 of 20
    layer("wide", 20_000, ddr_bytes=100, l2_bytes=80_000, bound="l2"),  # 20 of 25
    layer("pool", 0, ddr_bytes=100, l2_bytes=100, bound="overhead"),
)


def footprint(*layers: LayerTiming) -> Footprint:
    """A kilobyte of weights and two of activations for every layer."""
    held = [LayerMemory(layer.name, layer.type, layer.engine, 1024, 0, 2048, 0) for layer in layers]
    return Footprint(tuple(held), 1024 * len(layers), 0, 4096, 0, 512, 256)


def case(*layers: LayerTiming) -> Case:
    overhead = Overhead("rpc_invoke", 0, 1_000_000)
    total_ps = sum(layer.duration_ps for layer in layers) + overhead.duration_ps
    inference = InferenceTiming(0, 0, total_ps, layers, (overhead,))
    result = Result((inference,), Timeline((), total_ps), {}, ())
    return Case(
        network="net",
        source="net.onnx",
        chip="sd835",
        stack="snpe-1.23",
        software="snpe-1.23",
        perf_profile="burst",
        buffer="float",
        builtin=False,
        inputs=("in",),
        runtime="dsp",
        timing=result,
        memory=footprint(*layers),
        energy=inference_energy(inference, chips.load("sd835"), "turbo"),
        agreement=None,
        uncertainty=None,
    )


def chart(*layers: LayerTiming) -> Roofline:
    points = [RooflinePoint(layer, *ROOFS.over(layer)) for layer in layers if layer.macs]
    points.sort(key=lambda point: -point.lost_us)
    return Roofline(case(*layers), ROOFS, tuple(points), len(layers) - len(points), 0.4)
