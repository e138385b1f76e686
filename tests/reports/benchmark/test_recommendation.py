"""The line names the fastest runtime and its rival."""

import re
from dataclasses import replace

import pytest

from hexsim.accuracy.agreement import Agreement
from hexsim.deployment.given import Preparation
from hexsim.deployment.platform import Platform
from hexsim.reports.benchmark.recommendation import orders_text, recommendations
from hexsim.reports.pages.command_pages import bench_page
from hexsim.runtimes import Runtime
from hexsim.studies.benchmark import BenchmarkConditions, Case, run_benchmark
from hexsim.studies.draws import DrawnTimes
from hexsim.studies.uncertainty import Times, Uncertainty
from hexsim.timing.simtime import PS_PER_MS
from tests.reports.pages.conftest import data_of

CONDITIONS = BenchmarkConditions(accuracy=False, preparation=Preparation(quantize=True))


@pytest.fixture(scope="module")
def cases() -> list[Case]:
    return list(run_benchmark(["alexnet"], Platform.load("sd855"), ["dsp", "aip"], CONDITIONS))


def between(case: Case, runtime: Runtime, ms: float, low: float, high: float) -> Case:
    """The case with a total time, and an interval around it, in ms."""
    ends = (Times(1e3 * end, 1e3 * end) for end in (low, ms, high))
    doubt = Uncertainty(*ends, sensitivities=(), shares=(), scope="a few draws")
    (inference,) = case.timing.inferences
    stop_ps = inference.start_ps + round(ms * PS_PER_MS)
    timing = replace(case.timing, inferences=(replace(inference, end_ps=stop_ps),))
    return replace(case, runtime=runtime, timing=timing, uncertainty=doubt)


@pytest.mark.slow
def test_what_is_known_is_preferred_to_what_may_be_four_times_as_long(cases: list[Case]) -> None:
    """The middles are sqrt(2.6 x 13.4) = 5.9 and sqrt(3.7 x 5.4) = 4.5 ms."""
    dsp = between(cases[0], "dsp", 4.2, 3.7, 5.4)
    fixed_point = between(cases[0], "fxp_cpu", 3.51, 2.6, 13.4)
    first, second, *more = recommendations([fixed_point, dsp]).splitlines()
    assert first == (
        "Fastest for alexnet: dsp, 4.20 ms (3.70 .. 5.40); next fxp_cpu, 3.51 ms (2.60 .. 13.4)"
    )
    assert second == (
        "  fxp_cpu would be faster than dsp with the constants as stated, but they are known less "
        "well."
    )
    assert more == [], "the energies are the same"


@pytest.mark.slow
def test_the_page_begins_with_the_recommended_runtime(cases: list[Case]) -> None:
    """And it shows constants one by one only where they were tried one by one."""
    pytest.importorskip("bokeh")
    dsp = between(cases[0], "dsp", 4.2, 3.7, 5.4)
    fixed_point = between(cases[0], "fxp_cpu", 3.51, 2.6, 13.4)
    page = data_of(bench_page([fixed_point, dsp], [], "hexsim bench alexnet"))
    assert page["lead"][0].startswith("Fastest for alexnet: dsp")
    assert [name for name, _ in page["summary"]] == ["dsp", "fxp_cpu"]
    assert not any("Interval" in figure["title"] for figure in page["figures"])


def test_the_rival_is_on_other_hardware(cases: list[Case]) -> None:
    """dsp and aip are wrong together; gpu is not."""
    aip, dsp = between(cases[1], "aip", 4, 3, 5), between(cases[0], "dsp", 4.1, 3.1, 5.1)
    gpu = between(cases[0], "gpu", 6, 4.5, 8)
    gpu = replace(gpu, energy=replace(gpu.energy, layers=3 * gpu.energy.layers))
    lines = recommendations([gpu, dsp, aip]).splitlines()
    assert lines[0].endswith("aip, 4.00 ms (3.00 .. 5.00); next gpu, 6.00 ms (4.50 .. 8.00)")
    assert lines[1] == "  Their intervals overlap, so aip is not surely the faster one."
    assert re.fullmatch("  gpu takes [23].* times the energy of aip: .* mJ.", lines[2])
    assert len(lines) == 3


def test_noise_is_not_an_answer(cases: list[Case]) -> None:
    noisy = replace(between(cases[0], "dsp", 1, 1, 1), agreement=Agreement(1, 3.7, 1, 1.0))
    good = replace(between(cases[0], "gpu", 2, 2, 2), agreement=Agreement(1, 40.0, 1, 1.0))
    assert recommendations([noisy, good]).splitlines() == [
        "Fastest for alexnet: gpu, 2.00 ms",
        "  dsp, 1.00 ms does not count: its outputs have 3.70 dB, under the 10 dB of an answer "
        "that can be used.",
    ]
    both = recommendations([noisy, replace(good, agreement=noisy.agreement)])
    assert both.startswith("Fastest for alexnet: dsp, 1.00 ms; next gpu")
    assert both.endswith("The outputs of none have 10 dB, which an answer needs to be of use.")


def test_nothing_to_choose_is_nothing_to_say(cases: list[Case]) -> None:
    assert recommendations(cases[:1]) == recommendations(cases[1:]) == ""


def test_a_runtime_is_not_called_fastest_on_a_figure_that_was_measured_otherwise(
    cases: list[Case],
) -> None:
    """On sd835 dsp was measured with 23 ms and gpu with 25."""
    here = {"chip": "sd835", "stack": "snpe-1.23"}
    gpu = replace(between(cases[0], "gpu", 1, 1, 1), **here)
    line = recommendations([gpu, replace(cases[0], **here)])
    assert line == "Fastest for alexnet: dsp, 23 ms as measured; next gpu, 25 ms as measured"


def test_a_published_range_counts_with_its_middle(cases: list[Case]) -> None:
    cpu = replace(cases[0], chip="sd835", stack="snpe-1.23", runtime="cpu")
    gpu = between(cpu, "gpu", 238, 238, 238)
    gpu = replace(gpu, builtin=False)
    (line, *_) = recommendations([gpu, cpu]).splitlines()
    assert line.endswith("cpu, 196-278 ms as measured; next gpu, 238 ms")


def test_an_order_of_draws_tells_that_it_was_measured_the_other_way_round(
    cases: list[Case],
) -> None:
    drawn = DrawnTimes((Times(1.0, 1.0),))
    here = {"chip": "sd835", "stack": "snpe-1.23", "drawn": drawn}
    dsp = replace(cases[0], **here)
    gpu = replace(dsp, runtime="gpu")
    assert orders_text([dsp, gpu]) == "alexnet: dsp before gpu in 50% of draws"
    assert orders_text([gpu, dsp]).endswith("in 50% of draws (measured the other way round)")
