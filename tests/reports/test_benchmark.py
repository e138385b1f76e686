"""Footnotes of the benchmark say what stands behind times on the tensor engine.

The rows of the SNPE tools add up from the ledger's parts.
"""

from __future__ import annotations

import csv
import json
import re

import pytest
from msgspec.structs import replace

from hexsim.deployment.platform import Platform
from hexsim.deployment.source_model import Preparation
from hexsim.reports.benchmark import benchmark_csv, benchmark_tables, footnotes
from hexsim.results.benchmark import Benchmark
from hexsim.runtimes import Runtime
from hexsim.studies.benchmark import BenchmarkConditions, run_case
from hexsim.studies.row_names import conversions, inference, initialisation, misc_ps
from hexsim.studies.uncertainty import Scope
from tests.accuracy import culprits
from tests.deployed import deployed

FEW = "by 12 draws of all assumed and calibrated constants"
EVERYTHING = "shares are of the squared width"
ALONE = "aip runs on HVX alone"


@pytest.mark.parametrize(
    ("sweep", "hta", "expected"),
    [("a few draws", True, [FEW]), ("everything", True, [FEW, EVERYTHING]), (None, False, [ALONE])],
)
def test_an_interval_says_how_it_was_found(
    sweep: Scope | None, hta: bool, expected: list[str]
) -> None:
    preparation = Preparation(quantize=True, sections="all" if hta else "none")
    conditions = BenchmarkConditions(accuracy=False, preparation=preparation, sweep=sweep)
    case = run_case("conv1x1_16to16@8x8", Platform.load("sd855"), "aip", conditions)
    notes, table = footnotes(Benchmark(results=(case,))), benchmark_tables([case])
    assert [note for note in (FEW, EVERYTHING, ALONE) if note in notes] == expected
    assert ("between" in table) == (sweep is not None)
    assert ("aip's interval comes most from" in table) == (sweep == "everything")
    (document,) = json.loads(case.to_json())["results"]
    assert (document["uncertainty"] or {"swept": None})["swept"] == sweep
    header, *rows = csv.reader(benchmark_csv(Benchmark(results=(case,))).splitlines())
    (total,) = (row for row in rows if row[header.index("row")] == "Total Inference Time")
    assert bool(total[header.index("us_low")]) == (sweep is not None)


@pytest.mark.parametrize(("low", "said"), [(1.0, True), (0.9, False)])
def test_a_time_at_the_end_of_its_interval_says_so(low: float, said: bool) -> None:
    conditions = BenchmarkConditions(accuracy=False, sweep="a few draws")
    case = run_case("conv1x1_768to768", Platform.load("sd855"), "cpu", conditions)
    assert case.uncertainty is not None
    us = case.total_inference_us
    uncertainty = replace(case.uncertainty, total_inference_us=(low * us, 2 * us))
    notes = footnotes(Benchmark(results=(replace(case, uncertainty=uncertainty),)))
    sentence = "cpu: the constants that matter most are stated at the fast ends of their bounds"
    assert (sentence in notes) == said


def test_constants_that_move_nothing_are_not_named_as_moving_most() -> None:
    conditions = BenchmarkConditions(accuracy=False, sweep="everything")
    case = run_case("conv1x1_768to768", Platform.load("sd855"), "dsp", conditions)
    uncertainty = case.uncertainty
    assert uncertainty is not None
    first, *others = uncertainty.constants
    still = [replace(other, share=0.0) for other in others]
    alone = replace(uncertainty, constants=(first, *still))
    lines = benchmark_tables([replace(case, uncertainty=alone)]).splitlines()
    (line,) = (line for line in lines if "interval comes most from" in line)
    assert re.fullmatch(rf"dsp's interval comes most from {re.escape(first.constant)} \d+%", line)


@pytest.mark.parametrize("runtime", ["dsp", "aip", "cpu", "gpu"])
def test_each_row_is_within_the_one_before(runtime: Runtime) -> None:
    deployment = deployed(culprits.quantized(), runtime, "sd855")
    timing = deployment.simulate(idle_ms=50)
    rows = dict(inference(timing))
    times = list(rows.values())
    assert times == sorted(times, reverse=True)
    on_cpu = {"cpu_wake", "gpu_wait", "cpu_wait"}
    between = rows["Forward Propagate Time"] - rows["RPC Execute Time"]
    if runtime in ("dsp", "aip"):
        parts = [part for part in timing.overheads if part.forward and part.name in on_cpu]
        assert between == sum(part.duration_ps for part in parts) > 0
        layers = sum(layer.duration_ps for layer in timing.layers)
        assert rows["Accelerator Time"] > layers
        assert {p.name for p in timing.overheads if p.scope == "executor"} == {
            *("input_conversion", "output_conversion"),
        }
    else:
        assert times[2:] == [0, 0, 0]


def test_conversions_of_floats_are_not_the_graphs() -> None:
    rows = {
        buffer: dict(inference(deployed(culprits.quantized(), "dsp").simulate(buffer=buffer)))
        for buffer in ("float", "tf8")
    }
    extra = {
        buffer: times["Snpe Accelerator Time"] - times["Accelerator Time"]
        for buffer, times in rows.items()
    }
    assert extra["float"] > 0 == extra["tf8"]


def test_every_change_of_layout_is_misc_or_converted() -> None:
    for sections in ([], [("c1", "c2")]):
        deployment = deployed(culprits.quantized(), "aip", "sd855")
        deployment = deployment.with_sections(sections)
        timing = deployment.simulate()
        ways = ("to_d32 ", "from_d32 ", "to_hta ", "from_hta ")
        changes = [part for part in timing.overheads if part.name.startswith(ways)]
        spans = conversions(deployment.plan, timing)
        converted = sum(span.duration_ps for span in spans)
        misc = misc_ps(deployment.plan, timing)
        assert converted + misc == sum(part.duration_ps for part in changes)
        between = [(span.subnets, span.tensor) for span in spans]
        assert between == ([("0-1", "c0.out"), ("1-2", "c2.out")] if sections else [])


def test_initialisation_has_its_end() -> None:
    rows = {
        runtime: dict(initialisation(deployed(culprits.quantized(), runtime).simulate()))
        for runtime in ("cpu", "dsp")
    }
    cpu, dsp = rows["cpu"], rows["dsp"]
    assert cpu["Create Network(s)"] < cpu["Create"], "weights are made floats besides"
    assert 0 < cpu["De-Init"] < dsp["De-Init"]
    assert (cpu["RPC Init Time"], cpu["Accelerator Init Time"]) == (0, 0)
    assert dsp["RPC Init Time"] > 0
    assert "Accelerator Init Time" not in dsp
