"""A network in a line: what runs where, and what takes most of the time.

The line names the fastest runtime and its rival.
"""

import dataclasses
import re

import msgspec.structs as spec
import pytest
from msgspec.structs import replace

import hexsim
from hexsim.datasheets.measurements import DeviceAnswer
from hexsim.deployment.platform import Platform
from hexsim.deployment.source_model import Preparation
from hexsim.graph.ir import Network
from hexsim.layers import ChannelShuffle
from hexsim.quantization.model import Model
from hexsim.reports.benchmark import benchmark_tables, benchmark_text, footnotes
from hexsim.reports.info import info_text
from hexsim.reports.pages.command_pages import bench_page
from hexsim.reports.summary import (
    fell_back,
    overview_block,
    recommendations,
    summary,
    verdict,
)
from hexsim.reports.text import short_name
from hexsim.results.accuracy import Accuracy, OutputAccuracy
from hexsim.results.benchmark import Benchmark, Inference
from hexsim.results.costs import Figures, Interval
from hexsim.runtimes import Engine, Runtime
from hexsim.studies.benchmark import BenchmarkConditions, run_benchmark
from hexsim.timing.results import LayerTiming, Overhead
from tests.charts import LAYERS, case
from tests.dlc.made import small_network
from tests.reports.pages.conftest import data_of
from tests.small_networks import Sketch


def case_of(*layers: LayerTiming, wasted_us: int = 0, subnets: int = 1) -> Inference:
    """These layers, one microsecond each, on the dsp, and one overhead."""
    overhead = Overhead("rpc_invoke", 0, wasted_us * 1_000_000, scope="rpc")
    return spec.replace(case(*layers, overheads=(overhead,)), subnets=subnets)


def notes_of(*cases: Inference) -> str:
    return footnotes(Benchmark(results=cases))


def on(engine: Engine, layer: LayerTiming, **changes: object) -> LayerTiming:
    return dataclasses.replace(layer, engine=engine, **changes)  # type: ignore[arg-type]


def test_engines_with_their_layers_and_multiply_adds() -> None:
    dense, thin, wide, pool = LAYERS
    line = summary(case_of(dense, thin, on("cpu", wide), pool, subnets=3))
    assert "3 layers on HVX (84% of the MACs), 1 layer on CPU (16% of the MACs); 3 subnets" in line
    assert "no cut" in summary(case_of(dense))


@pytest.mark.parametrize(
    ("engine", "wasted_us", "most", "share"),
    [
        (
            "hvx",
            0,
            "3 convolutional layers on HVX, first of all 'dense' (50%, bound by compute)",
            "100%",
        ),
        ("cpu", 0, "2 layers on CPU, first of all 'thin' (25%, bound by latency)", "50%"),
        ("hvx", 4, "calling the DSP and returning", "50%"),
    ],
)
def test_what_would_help_most_is_what_takes_most(
    engine: Engine, wasted_us: int, most: str, share: str
) -> None:
    """Two microseconds, then one and one; what fell back together counts as one."""
    dense, thin, wide, _ = LAYERS
    first = dataclasses.replace(dense, duration_ps=2_000_000 - (engine == "cpu"))
    line = summary(case_of(first, on(engine, thin), on(engine, wide), wasted_us=wasted_us))
    assert f"the largest part of the time, {share}, is spent on {most}" in line


def test_a_very_long_name_is_shortened_in_sentences() -> None:
    layer = dataclasses.replace(LAYERS[0], name="a" * 300 + "end", cost_model="generic")
    simulated = case_of(layer)
    for text in (
        summary(simulated),
        overview_block(simulated),
        notes_of(simulated, spec.replace(simulated, runtime="aip")),
    ):
        assert short_name(layer.name) in text
        assert layer.name not in text


def test_crossings_are_the_cause_where_they_are_most_of_the_call() -> None:
    """Ten calls of one microsecond: eight cross to one layer and back, or two."""
    calls = tuple(Overhead("rpc_return", 0, 1_000_000, scope="rpc") for _ in range(10))
    cut = spec.replace(case(*LAYERS[:1], on("cpu", LAYERS[1]), overheads=calls), subnets=3)

    def line(crossing_us: float) -> str:
        first, left = cut.layers
        left = spec.replace(left, to_cpu_us=crossing_us / 2, from_cpu_us=crossing_us / 2)
        return summary(spec.replace(cut, layers=(first, left)))

    most = "convolutional 'thin' on CPU (bound by latency) and the crossings there and back"
    assert line(8).endswith(f"; 3 subnets; the largest part of the time, 75%, is spent on {most}")
    most = "calling the DSP and returning"
    assert line(2).endswith(f"; 3 subnets; the largest part of the time, 83%, is spent on {most}")


def test_a_graph_of_several_parts_is_not_cut() -> None:
    parts = spec.replace(case(on("htp", LAYERS[0])), runtime="htp", subnets=3)
    assert "; no cut; " in summary(parts)


def test_the_time_outside_layers_is_reported_by_purpose() -> None:
    """Two parts of the call of one microsecond each, which are one entry, beside two of layers."""
    call = Overhead("rpc_invoke", 0, 1_000_000, scope="rpc")
    parts = (
        call,
        dataclasses.replace(call, name="buffers"),
        dataclasses.replace(call, name="input_conversion"),
    )
    text = "60%: calling the DSP and returning 40%, converting inputs to codes 20%"
    assert f"\nnot in layers  {text}\n" in overview_block(case(*LAYERS[:2], overheads=parts))


def test_what_is_alike_on_several_runtimes_is_one_note() -> None:
    simulated = case_of(dataclasses.replace(LAYERS[0], cost_model="generic"))
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
    ideal = spec.replace(simulated, software=Platform.load("sd835").with_ideal_cpu().software)
    assert f"{simulated.stack} with an ideal CPU," in benchmark_tables([ideal])


def test_what_runtimes_would_take_of_a_network() -> None:
    """Of a chip its own runtimes by its release, without one those of SNPE 1.x and of today."""

    def line(network: Network, chip: str | None = None) -> str:
        (sentence,) = (
            line
            for line in info_text(hexsim.info(Model(network), chip)).splitlines()
            if line.startswith("Of ")
        )
        return sentence

    count = len(small_network().layers)
    every = f"Of {count} layers: all run on aip, dsp, gpu, cpu, hta, htp"
    assert line(small_network()) == every
    assert line(small_network(), "sd8gen4") == f"Of {count} layers: all run on gpu, cpu, htp"
    assert (
        line(small_network(), "sd855") == f"Of {count} layers: all run on aip, dsp, gpu, cpu, hta"
    )
    sketch = Sketch((1, 8, 8, 16))
    shuffled = sketch.add(ChannelShuffle, sketch.conv("in", 16), groups=4)
    network = sketch.network(sketch.add(ChannelShuffle, shuffled, groups=2))
    assert "; 1 runs on hta (100% of the MACs)" in line(network)
    only = Sketch((1, 8, 8, 16))
    assert "; none runs on hta" in line(only.network(only.add(ChannelShuffle, "in", groups=4)))


CONDITIONS = BenchmarkConditions(accuracy=False, preparation=Preparation(quantize=True))


@pytest.fixture(scope="module")
def cases() -> list[Inference]:
    return list(run_benchmark(["alexnet"], Platform.load("sd855"), ["dsp", "aip"], CONDITIONS))


def between(case: Inference, runtime: Runtime, ms: float, low: float, high: float) -> Inference:
    """The case with a total time, and an interval around it, in ms."""
    ends = (1e3 * low, 1e3 * high)
    doubt = Interval(swept="a few draws", total_inference_us=ends, forward_propagate_us=ends)
    return replace(
        case,
        runtime=runtime,
        total_inference_us=1e3 * ms,
        uncertainty=doubt,
        measured_ms=Figures(),
    )


def with_db(case: Inference, sqnr_db: float) -> Inference:
    accuracy = Accuracy(compared_on="a", inputs=1, sqnr_db=sqnr_db, top1_agreement=1)
    return replace(case, accuracy=accuracy)


def measured(case: Inference, runtime: Runtime, *ms: float) -> Inference:
    return replace(case, runtime=runtime, measured_ms=Figures(total_inference=ms))


@pytest.mark.slow
def test_the_ranking_is_that_of_the_times_shown(cases: list[Inference]) -> None:
    """The middle of the interval of fxp_cpu, 5.9 ms, is longer than that of dsp, 4.5 ms."""
    dsp = between(cases[0], "dsp", 4.2, 3.7, 5.4)
    fixed_point = between(cases[0], "fxp_cpu", 3.51, 2.6, 13.4)
    first, second, *more = verdict([dsp, fixed_point]).splitlines()
    assert first == (
        "Fastest for alexnet on sd855: fxp_cpu, 3.51 ms (2.60 .. 13.4); "
        "next dsp, 4.20 ms (3.70 .. 5.40)"
    )
    assert second == (
        "  The intervals of fxp_cpu and dsp overlap, so fxp_cpu is not surely the faster one."
    )
    assert more == [], "the energies are the same"


@pytest.mark.slow
def test_times_of_one_figure_are_a_tie(cases: list[Inference]) -> None:
    dsp, cpu = between(cases[0], "dsp", 2.001, 2, 2), between(cases[0], "cpu", 2.003, 2, 2)
    assert verdict([cpu, dsp]).startswith("A tie for alexnet: dsp, 2.00 ms ")
    (tie, *_) = verdict([cpu, dsp, between(cases[0], "gpu", 3, 3, 3)]).splitlines()
    assert tie.endswith("; next gpu, 3.00 ms")
    assert verdict([cpu, between(dsp, "dsp", 1.99, 1, 2)]).startswith(
        "Fastest for alexnet on sd855: dsp"
    )


@pytest.mark.slow
def test_what_crashed_on_the_device_is_not_ranked(cases: list[Inference]) -> None:
    slow, fast = between(cases[0], "cpu", 5, 5, 5), between(cases[0], "dsp", 4, 4, 4)
    crash = DeviceAnswer(
        chip="sd835",
        stack="snpe-1.23",
        model="alexnet",
        runtime="fxp_cpu",
        outcome="segmentation fault",
        confidence="inferred",
    )
    crashed = replace(between(cases[0], "fxp_cpu", 1, 1, 1), measured_outcome=crash)
    text = verdict([crashed, slow, fast])
    assert text.startswith("Fastest for alexnet on sd855: dsp, 4.00 ms; next cpu")
    assert "fxp_cpu is not ranked: its program crashed on the device" in text
    assert verdict([crashed, fast]) == ""


@pytest.mark.slow
def test_the_verdict_is_the_first_thing(cases: list[Inference]) -> None:
    """And is said again only of networks on several chips."""
    both = [replace(case, measured_ms=Figures()) for case in cases]
    assert benchmark_tables(both).splitlines()[0] == verdict(both).splitlines()[0]
    assert recommendations(both) == ""
    other = [replace(case, chip="sd865") for case in both]
    assert "of sd865" in recommendations([*both, *other])
    of_all = benchmark_text(Benchmark(results=(*both, *other)))
    assert of_all.startswith(recommendations([*both, *other]))


@pytest.mark.slow
def test_the_page_begins_with_the_recommended_runtime(cases: list[Inference]) -> None:
    """And it shows constants one by one only where they were tried one by one."""
    dsp = between(cases[0], "dsp", 4.2, 3.7, 5.4)
    fixed_point = between(cases[0], "fxp_cpu", 3.51, 2.6, 13.4)
    page = data_of(bench_page(Benchmark(results=(fixed_point, dsp)), "hexsim bench alexnet"))
    assert page["lead"][0].startswith("Fastest for alexnet on sd855: fxp_cpu")
    assert [name for name, _ in page["summary"]] == ["fxp_cpu", "dsp"]
    assert not any("Interval" in figure["title"] for figure in page["figures"])


def test_the_rival_is_on_other_hardware(cases: list[Inference]) -> None:
    """dsp and aip are wrong together; gpu is not."""
    aip, dsp = between(cases[1], "aip", 4, 3, 5), between(cases[0], "dsp", 4.1, 3.1, 5.1)
    gpu = between(cases[0], "gpu", 6, 4.5, 8)
    gpu = replace(gpu, energy=replace(gpu.energy, mj=3 * gpu.energy.mj))
    lines = verdict([gpu, dsp, aip]).splitlines()
    assert lines[0].endswith(
        "aip, 4.00 ms (3.00 .. 5.00); next dsp, 4.10 ms (3.10 .. 5.10); "
        "on other hardware gpu, 6.00 ms (4.50 .. 8.00)"
    )
    assert (
        lines[1] == "  The intervals of aip and gpu overlap, so aip is not surely the faster one."
    )
    assert re.fullmatch("  gpu takes [23].* times the energy of aip: .* mJ.", lines[2])
    assert len(lines) == 3


def test_noise_is_not_an_answer(cases: list[Inference]) -> None:
    noisy = with_db(between(cases[0], "dsp", 1, 1, 1), 3.7)
    good = with_db(between(cases[0], "gpu", 2, 2, 2), 40.0)
    assert verdict([noisy, good]).splitlines() == [
        "Fastest for alexnet on sd855: gpu, 2.00 ms",
        "  dsp, 1.00 ms does not count: its outputs have 3.70 dB, under the 10 dB of an answer "
        "that can be used.",
    ]
    both = verdict([noisy, with_db(good, 3.7)])
    assert both.startswith("Fastest for alexnet on sd855: dsp, 1.00 ms; next gpu")
    assert both.endswith("The outputs of none have 10 dB, which an answer needs to be of use.")


def test_a_small_error_of_a_probability_is_no_noise(cases: list[Inference]) -> None:
    """An error of 0.002 beside scores at rest, of which the codes have nothing left."""
    dsp, gpu = between(cases[0], "dsp", 1, 1, 1), between(cases[0], "gpu", 2, 2, 2)
    rest = OutputAccuracy(tensor="score", sqnr_db=-145.0, negligible=True)
    assert dsp.accuracy is None or dsp.accuracy.sqnr_db is None
    for boxes_db, fastest in ((30.0, "dsp"), (3.7, "gpu")):
        outputs = (rest, OutputAccuracy(tensor="boxes", sqnr_db=boxes_db))
        accuracy = Accuracy(compared_on="a", inputs=1, sqnr_db=-145.0, outputs=outputs)
        first, *others = verdict([replace(dsp, accuracy=accuracy), gpu]).splitlines()
        assert first.startswith(f"Fastest for alexnet on sd855: {fastest}")
        assert ["3.70 dB" in other for other in others] == [True] * (fastest == "gpu")


def test_nothing_to_choose_is_nothing_to_say(cases: list[Inference]) -> None:
    assert verdict(cases[:1]) == verdict(cases[1:]) == ""


def test_simulated_times_rank_and_a_line_says_what_was_measured(cases: list[Inference]) -> None:
    """dsp was measured with 23 ms, gpu with 25; gpu is simulated to be much faster."""
    gpu = measured(between(cases[0], "gpu", 1, 1, 1), "gpu", 25)
    both = [gpu, measured(cases[0], "dsp", 23)]
    first, *others = verdict(both).splitlines()
    assert first.startswith("Fastest for alexnet on sd855: gpu, 1.00 ms; next dsp, ")
    assert "as measured" not in first
    assert others[-1] == "  On the device dsp was the fastest, 23 ms as measured."
    line = verdict(both, by_measured=True)
    assert (
        line == "Fastest for alexnet on sd855: dsp, 23 ms as measured; next gpu, 25 ms as measured"
    )


def test_a_published_range_counts_with_its_middle(cases: list[Inference]) -> None:
    cpu = measured(cases[0], "cpu", 196, 278)
    gpu = between(cpu, "gpu", 238, 238, 238)
    (line, *_) = verdict([gpu, cpu], by_measured=True).splitlines()
    assert line.endswith("cpu, 196-278 ms as measured; next gpu, 238 ms")


def test_long_names_stay_apart_and_only_some_are_named() -> None:
    names = [f"backbone/expanded_conv_{at}/depthwise/depthwise/BatchToSpaceND" for at in range(8)]
    layers = [
        dataclasses.replace(LAYERS[0], name=name, cost_model="generic", duration_ps=1000 + at)
        for at, name in enumerate(names)
    ]
    simulated = case_of(*layers)
    (note,) = [line for line in notes_of(simulated).splitlines() if "no kernel model" in line]
    named = re.findall(r"expanded_conv_(\d)", note)
    assert named == [*"01234"]
    assert "and 3 others)" in note
    assert "expanded_conv_7" in summary(simulated)
