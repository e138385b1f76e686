"""A roofline small enough to check by hand: three layers of one microsecond each."""

from __future__ import annotations

from hexsim.datasheets import chips
from hexsim.energy import inference_energy
from hexsim.results.benchmark import Inference
from hexsim.results.costs import Footprint, LayerMemory
from hexsim.results.roofline import MemoryRoof, Roofline
from hexsim.studies.inferences import energy_use, times_of
from hexsim.studies.roofline import Roofs
from hexsim.timing.results import Bound, InferenceTiming, LayerTiming, Overhead, Result, Timeline

ROOFS = Roofs(
    "hvx",
    "HVX",
    peak_macs_per_s=200e9,
    memories=(
        MemoryRoof(name="DDR", level="ddr", bytes_per_s=20e9),
        MemoryRoof(name="one stream", level="ddr", bytes_per_s=5e9, is_limit=False),
        MemoryRoof(name="L2", level="l2", bytes_per_s=100e9),
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
    sizes = {"weight_bytes": 1024, "packed_bytes": 0, "live_bytes": 2048, "on_chip_bytes": 0}
    held = tuple(
        LayerMemory(name=layer.name, type=layer.type, engine=layer.engine, **sizes)
        for layer in layers
    )
    return Footprint(
        peak_bytes=1024 * len(layers) + 4096 + 512 + 256,
        weight_bytes=1024 * len(layers),
        activation_bytes=4096,
        handed_bytes=512,
        application_bytes=256,
        live_bytes=2048,
        largest_layer=held[0].name if held else None,
        layers=held,
    )


def case(*layers: LayerTiming, overheads: tuple[Overhead, ...] | None = None) -> Inference:
    """These layers on the dsp, and the overheads: one microsecond of rpc_invoke by default."""
    if overheads is None:
        overheads = (Overhead("rpc_invoke", 0, 1_000_000),)
    total_ps = sum(charge.duration_ps for charge in (*layers, *overheads))
    inference = InferenceTiming(0, 0, total_ps, layers, overheads)
    timing = Result((inference,), Timeline((), total_ps), {}, ())
    energy = inference_energy(inference, chips.load("sd835"), "turbo")
    return Inference(
        network="net",
        source="net.onnx",
        chip="sd835",
        stack="snpe-1.23",
        software="snpe-1.23",
        perf_profile="burst",
        buffer="float",
        inputs=("in",),
        runtime="dsp",
        **times_of(timing, energy),
        memory=footprint(*layers),
        energy=energy_use(energy),
    )


def chart(*layers: LayerTiming) -> Roofline:
    points = [ROOFS.over(layer) for layer in layers if layer.macs]
    return Roofline(
        engine=ROOFS.engine,
        peak_name=ROOFS.peak_name,
        peak_macs_per_s=ROOFS.peak_macs_per_s,
        memories=ROOFS.memories,
        points=tuple(sorted(points, key=lambda point: -point.lost_us)),
        other_layers=len(layers) - len(points),
        other_share=0.4,
    )
