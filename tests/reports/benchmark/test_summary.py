"""A network in a line: what runs where, and what takes most of the time."""

from dataclasses import replace

import msgspec.structs as spec
import pytest

from hexsim.deployment.platform import Platform
from hexsim.layers import ChannelShuffle
from hexsim.quantization.model import Model
from hexsim.reports.benchmark.overview import overview
from hexsim.reports.benchmark.summary import fell_back, model_summary, summary
from hexsim.reports.benchmark.table import benchmark_tables, footnotes
from hexsim.reports.fitting import short_name
from hexsim.results.benchmark import Benchmark, Inference
from hexsim.runtimes import Engine
from hexsim.timing.results import LayerTiming, Overhead
from tests.charts import LAYERS, case
from tests.dlc.made import small_network
from tests.small_networks import Sketch


def case_of(*layers: LayerTiming, wasted_us: int = 0, subnets: int = 1) -> Inference:
    """These layers, one microsecond each, on the dsp, and one overhead."""
    overhead = Overhead("rpc_invoke", 0, wasted_us * 1_000_000, scope="rpc")
    return spec.replace(case(*layers, overheads=(overhead,)), subnets=subnets)


def notes_of(*cases: Inference) -> str:
    return footnotes(Benchmark(results=cases))


def on(engine: Engine, layer: LayerTiming, **changes: object) -> LayerTiming:
    return replace(layer, engine=engine, **changes)  # type: ignore[arg-type]


def test_engines_with_their_layers_and_multiply_adds() -> None:
    dense, thin, wide, pool = LAYERS
    line = summary(case_of(dense, thin, on("cpu", wide), pool, subnets=3))
    assert "3 layers on HVX (84% of the MACs), 1 layer on CPU (16% of the MACs); 3 subnets" in line
    assert "no cut" in summary(case_of(dense))


@pytest.mark.parametrize(
    ("engine", "wasted_us", "most", "share"),
    [
        ("hvx", 0, "convolutional 'dense' on HVX (bound by compute)", "50%"),
        ("cpu", 0, "2 layers, first of all convolutional 'wide' on CPU", "50%"),
        ("hvx", 4, "calling the DSP and returning (rpc_invoke)", "50%"),
    ],
)
def test_what_would_help_most_is_what_takes_most(
    engine: Engine, wasted_us: int, most: str, share: str
) -> None:
    """Two microseconds, then one and one; what fell back together counts as one."""
    dense, thin, wide, _ = LAYERS
    first = replace(dense, duration_ps=2_000_000 - (engine == "cpu"))
    line = summary(case_of(first, on(engine, thin), on(engine, wide), wasted_us=wasted_us))
    assert f"the largest part of the time, {share}, is spent on {most}" in line


def test_a_very_long_name_is_shortened_in_sentences() -> None:
    layer = replace(LAYERS[0], name="a" * 300 + "end", cost_model="generic")
    simulated = case_of(layer)
    for text in (
        summary(simulated),
        overview(simulated),
        notes_of(simulated, spec.replace(simulated, runtime="aip")),
    ):
        assert short_name(layer.name) in text
        assert layer.name not in text


def test_the_time_outside_layers_is_reported_by_purpose() -> None:
    """Two parts of the call of one microsecond each, which are one entry, beside two of layers."""
    call = Overhead("rpc_invoke", 0, 1_000_000, scope="rpc")
    parts = (call, replace(call, name="buffers"), replace(call, name="input_conversion"))
    text = "60%: calling the DSP and returning 40%, converting inputs to codes 20%"
    assert f"\nnot in layers  {text}\n" in overview(case(*LAYERS[:2], overheads=parts))


def test_what_is_alike_on_several_runtimes_is_one_note() -> None:
    simulated = case_of(replace(LAYERS[0], cost_model="generic"))
    notes = notes_of(simulated, spec.replace(simulated, runtime="aip")).splitlines()
    assert sum("no kernel model" in note for note in notes) == 1
    assert any(
        f"{simulated.network} on {simulated.runtime}, aip: no kernel model" in note
        for note in notes
    )


def test_a_network_that_falls_back_whole_says_so_first() -> None:
    simulated = case_of(*(on("cpu", layer) for layer in LAYERS[:2]))
    assert fell_back(simulated)
    first = benchmark_tables([simulated]).splitlines()[0]
    assert "falls back to the CPU as a whole: none of its 2 layers runs on HVX" in first
    assert not fell_back(spec.replace(simulated, runtime="cpu"))
    assert not fell_back(case_of(LAYERS[0], on("cpu", LAYERS[1])))


def test_the_heading_names_ideal_cpu() -> None:
    simulated = case_of(LAYERS[0])
    assert "ideal CPU" not in benchmark_tables([simulated])
    ideal = spec.replace(simulated, software=Platform.load().with_ideal_cpu().software)
    assert f"{simulated.stack} with an ideal CPU," in benchmark_tables([ideal])


def test_what_runtimes_would_take_of_a_network() -> None:
    assert model_summary(Model(small_network())) == (
        f"Of {len(small_network().layers)} layers: all run on aip, dsp, gpu, cpu, hta"
    )
    sketch = Sketch((1, 8, 8, 16))
    shuffled = sketch.add(ChannelShuffle, sketch.conv("in", 16), groups=4)
    network = sketch.network(sketch.add(ChannelShuffle, shuffled, groups=2))
    line = model_summary(Model(network))
    assert line.endswith("; 1 runs on hta (100% of the MACs)")
    only = Sketch((1, 8, 8, 16))
    line = model_summary(Model(only.network(only.add(ChannelShuffle, "in", groups=4))))
    assert line.endswith("; none runs on hta")
