"""Footnotes of the benchmark say what stands behind times on the tensor engine."""

import csv
import json
import re
from dataclasses import replace

import pytest

from hexsim.deployment.given import Preparation
from hexsim.deployment.platform import Platform
from hexsim.reports.benchmark_data import benchmark_csv, benchmark_json
from hexsim.reports.benchmark_table import benchmark_tables, footnotes
from hexsim.studies.benchmark import BenchmarkConditions, Case, run_benchmark, run_case
from hexsim.studies.uncertainty import Scope

ENGINE = "what is not known of the HTA"
EVERYTHING = "what is not known of assumed and calibrated constants"
ALONE = "aip runs on HVX alone"


@pytest.mark.parametrize(
    ("sweep", "hta", "note"),
    [
        ("tensor engine", True, ENGINE),
        ("tensor engine", False, ALONE),
        ("everything", True, EVERYTHING),
    ],
)
def test_an_interval_says_which_constants_leave_it(sweep: Scope, hta: bool, note: str) -> None:
    preparation = Preparation(quantize=True, hta=hta)
    conditions = BenchmarkConditions(accuracy=False, preparation=preparation, sweep=sweep)
    results = run_benchmark(
        ["conv1x1_16to16@8x8"], Platform.load("sd855"), ["aip"], conditions, lambda what: None
    )
    cases = [case for case in results if isinstance(case, Case)]
    notes, table = footnotes(cases), benchmark_tables(cases)
    assert [one in notes for one in (ENGINE, ALONE, EVERYTHING)] == [
        one == note for one in (ENGINE, ALONE, EVERYTHING)
    ]
    assert ("between" in table) == ("aip's interval comes most from" in table) == (note != ALONE)


def test_only_aip_has_the_interval_of_the_tensor_engine() -> None:
    preparation = Preparation(quantize=True)
    conditions = BenchmarkConditions(accuracy=False, preparation=preparation, sweep="tensor engine")
    platform = Platform.load("sd865")
    results = run_benchmark(["conv1x1_768to768"], platform, ["dsp", "aip"], conditions)
    dsp, aip = (case for case in results if isinstance(case, Case))
    assert dsp.uncertainty is None
    assert aip.uncertainty is not None
    assert aip.uncertainty.low < aip.uncertainty.nominal < aip.uncertainty.high
    prefixes = {swing.path.split(".")[0] for swing in aip.uncertainty.swings}
    assert "hta" in prefixes <= {"hta", "partitioning"}
    wider = replace(conditions, sweep="everything")
    everything = run_case("conv1x1_768to768", platform, "aip", wider)
    assert everything.uncertainty is not None
    assert everything.uncertainty.high.total_us >= aip.uncertainty.high.total_us
    document = json.loads(benchmark_json([dsp, aip]))["results"]
    assert [found["uncertainty"] and found["uncertainty"]["swept"] for found in document] == [
        None,
        "tensor engine",
    ]
    header, *rows = csv.reader(benchmark_csv([dsp, aip]).splitlines())
    row_name, low = header.index("row"), header.index("us_low")
    totals = [row for row in rows if row[row_name] == "Total Inference Time"]
    assert [bool(row[low]) for row in totals] == [False, True]


def test_constants_that_move_nothing_are_not_named_as_moving_most() -> None:
    conditions = BenchmarkConditions(accuracy=False, sweep="everything")
    case = run_case("conv1x1_768to768", Platform.load("sd855"), "dsp", conditions)
    found = case.uncertainty
    assert found is not None
    first, *others = found.swings
    still = [replace(other, at_low=found.nominal, at_high=found.nominal) for other in others]
    alone = replace(found, swings=(first, *still))
    lines = benchmark_tables([replace(case, uncertainty=alone)]).splitlines()
    (line,) = (line for line in lines if "interval comes most from" in line)
    assert re.fullmatch(rf"dsp's interval comes most from {re.escape(first.path)} \d+%", line)
