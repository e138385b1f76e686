"""A network in a line: what runs where, and what takes most of the time."""

from dataclasses import replace

import pytest

from hexsim.deployment.platform import Platform
from hexsim.layers import ChannelShuffle
from hexsim.quantization.model import Model
from hexsim.reports.benchmark.overview import overview
from hexsim.reports.benchmark.summary import fell_back, model_summary, summary
from hexsim.reports.benchmark.table import benchmark_tables, footnotes
from hexsim.reports.fitting import short_name
from hexsim.reports.inference.outside import outside_layers
from hexsim.runtimes import Engine
from hexsim.studies.benchmark import Case
from hexsim.timing.results import LayerTiming, Overhead
from tests.charts import LAYERS, chart
from tests.dlc.made import small_network
from tests.small_networks import Sketch


def case_of(*layers: LayerTiming, wasted_us: int = 0, subnets: int = 1) -> Case:
    """These layers, one microsecond each, on the dsp, and one overhead."""
    case = chart(*LAYERS).case
    (inference,) = case.timing.inferences
    overhead = Overhead("rpc_invoke", 0, wasted_us * 1_000_000, scope="rpc")
    end_ps = sum(layer.duration_ps for layer in layers) + overhead.duration_ps
    whole = replace(inference, start_ps=0, end_ps=end_ps, layers=layers, overheads=(overhead,))
    timing = replace(case.timing, inferences=(whole,))
    return replace(case, timing=timing, subnets=subnets)


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
    case = case_of(layer)
    for text in (summary(case), overview(case), footnotes([case, replace(case, runtime="aip")])):
        assert short_name(layer.name) in text
        assert layer.name not in text


def test_the_time_outside_layers_is_reported_by_purpose() -> None:
    """Two parts of the call of one microsecond each, which are one entry, beside two of layers."""
    case = case_of(*LAYERS[:2], wasted_us=1)
    (inference,) = case.timing.inferences
    (part,) = inference.overheads
    parts = (part, replace(part, name="buffers"), replace(part, name="input_conversion"))
    end_ps = inference.end_ps + 2_000_000
    whole = replace(inference, overheads=parts, end_ps=end_ps)
    timing = replace(case.timing, inferences=(whole,))
    text = "60%: calling the DSP and returning 40%, converting inputs to codes 20%"
    assert outside_layers(timing) == text
    assert f"\nnot in layers  {text}\n" in overview(replace(case, timing=timing))


def test_what_is_alike_on_several_runtimes_is_one_note() -> None:
    case = case_of(replace(LAYERS[0], cost_model="generic"))
    notes = footnotes([case, replace(case, runtime="aip")]).splitlines()
    assert sum("no kernel model" in note for note in notes) == 1
    assert any(f"{case.network} on {case.runtime}, aip: no kernel model" in note for note in notes)


def test_a_network_that_falls_back_whole_says_so_first() -> None:
    case = case_of(*(on("cpu", layer) for layer in LAYERS[:2]))
    assert fell_back(case)
    first = benchmark_tables([case]).splitlines()[0]
    assert "falls back to the CPU as a whole: none of its 2 layers runs on HVX" in first
    assert not fell_back(replace(case, runtime="cpu"))
    assert not fell_back(case_of(LAYERS[0], on("cpu", LAYERS[1])))


def test_the_heading_names_ideal_cpu() -> None:
    case = case_of(LAYERS[0])
    assert "--ideal-cpu" not in benchmark_tables([case])
    ideal = replace(case, software=Platform.load().with_ideal_cpu().software)
    assert f"{case.stack} with --ideal-cpu," in benchmark_tables([ideal])


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
