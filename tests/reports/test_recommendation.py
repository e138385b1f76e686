"""The line names the fastest runtime, the cut, and the runner-up."""

from dataclasses import replace

import pytest

from hexsim.deployment.given import Preparation
from hexsim.deployment.platform import Platform
from hexsim.reports.recommendation import known_us, orders_text, recommendations
from hexsim.studies.benchmark import BenchmarkConditions, Case, run_benchmark
from hexsim.studies.draws import DrawnTimes
from hexsim.studies.uncertainty import Times

CONDITIONS = BenchmarkConditions(accuracy=False, preparation=Preparation(quantize=True))


@pytest.fixture(scope="module")
def cases() -> list[Case]:
    return list(run_benchmark(["alexnet"], Platform.load("sd855"), ["dsp", "aip"], CONDITIONS))


def test_the_fastest_and_the_next(cases: list[Case]) -> None:
    dsp, aip = cases
    assert aip.cut is not None
    assert dsp.cut is None
    assert aip.fastest_us == aip.timing.total_us - (aip.cut.default_us - aip.cut.best_us)
    line = recommendations(cases)
    assert line.startswith(f"Fastest for alexnet: aip with HTA sections {aip.cut.best_ids}, ")
    assert line.endswith(f"next dsp, {dsp.timing.total_us / 1e3:.2f} ms")
    assert "the default cut's speed" in line


def test_order_follows_the_times(cases: list[Case]) -> None:
    dsp, aip = cases
    slow = replace(aip, saved_us=-1e6)
    assert recommendations([slow, dsp]).startswith("Fastest for alexnet: dsp")


def test_no_cut_is_needed(cases: list[Case]) -> None:
    dsp = cases[0]
    gpu = replace(dsp, runtime="gpu", saved_us=-1e3)
    line = recommendations([gpu, dsp])
    assert line.startswith(
        f"Fastest for alexnet: dsp, {dsp.timing.total_us / 1e3:.2f} ms; next gpu"
    )


def test_nothing_to_choose_is_nothing_to_say(cases: list[Case]) -> None:
    assert recommendations(cases[:1]) == recommendations(cases[1:]) == ""


def test_a_runtime_is_not_called_fastest_on_a_figure_that_was_measured_otherwise(
    cases: list[Case],
) -> None:
    """On sd835 dsp was measured with 23 ms and gpu with 25."""
    dsp, aip = cases
    here = {"chip": "sd835", "stack": "snpe-1.23"}
    gpu = replace(dsp, **here, runtime="gpu", saved_us=dsp.timing.total_us / 2)
    assert gpu.fastest_us < dsp.fastest_us
    assert known_us(gpu) == 25e3
    line = recommendations([replace(dsp, **here), gpu, replace(aip, **here, saved_us=-1e6)])
    assert line == "Fastest for alexnet: dsp, 23 ms as measured; next gpu, 25 ms as measured"


def test_a_published_range_counts_with_its_middle(cases: list[Case]) -> None:
    cpu = replace(cases[0], chip="sd835", stack="snpe-1.23", runtime="cpu")
    assert known_us(cpu) == (196e3 + 278e3) / 2
    assert known_us(replace(cpu, builtin=False)) == cpu.timing.total_us
    line = recommendations([cpu, cases[1]])
    assert line.endswith("next cpu, 196-278 ms as measured")


def test_an_order_of_draws_tells_that_it_was_measured_the_other_way_round(
    cases: list[Case],
) -> None:
    drawn = DrawnTimes((Times(1.0, 1.0),))
    here = {"chip": "sd835", "stack": "snpe-1.23", "drawn": drawn}
    dsp = replace(cases[0], **here)
    gpu = replace(dsp, runtime="gpu")
    assert orders_text([dsp, gpu]) == "alexnet: dsp before gpu in 50% of draws"
    assert orders_text([gpu, dsp]).endswith("in 50% of draws (measured the other way round)")
