"""The line names the fastest runtime, the cut, and the runner-up."""

from dataclasses import replace

import pytest

from hexsim.deployment.given import Preparation
from hexsim.platform import Platform
from hexsim.reports.recommendation import recommendations
from hexsim.studies.benchmark import BenchmarkConditions, Case, run_benchmark

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


def test_nothing_to_choose_is_nothing_to_say(cases: list[Case]) -> None:
    assert recommendations(cases[:1]) == recommendations(cases[1:]) == ""
