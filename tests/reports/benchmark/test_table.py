"""Footnotes of the benchmark say what stands behind times on the tensor engine."""

import csv
import json
import re

import pytest
from msgspec.structs import replace

from hexsim.deployment.given import Preparation
from hexsim.deployment.platform import Platform
from hexsim.reports.benchmark.csv_rows import benchmark_csv
from hexsim.reports.benchmark.table import benchmark_tables, footnotes
from hexsim.results.benchmark import Benchmark
from hexsim.studies.benchmark import BenchmarkConditions, run_case
from hexsim.studies.uncertainty import Scope

FEW = "by 12 draws of all assumed and calibrated constants"
EVERYTHING = "what is not known of assumed and calibrated constants"
ALONE = "aip runs on HVX alone"


@pytest.mark.parametrize(
    ("sweep", "hta", "expected"),
    [("a few draws", True, [FEW]), ("everything", True, [EVERYTHING]), (None, False, [ALONE])],
)
def test_an_interval_says_how_it_was_found(
    sweep: Scope | None, hta: bool, expected: list[str]
) -> None:
    preparation = Preparation(quantize=True, hta=hta)
    conditions = BenchmarkConditions(accuracy=False, preparation=preparation, sweep=sweep)
    case = run_case("conv1x1_16to16@8x8", Platform.load("sd855"), "aip", conditions)
    notes, table = footnotes(Benchmark(results=(case,))), benchmark_tables([case])
    assert [note for note in (FEW, EVERYTHING, ALONE) if note in notes] == expected
    assert ("between" in table) == (sweep is not None)
    assert ("aip's interval comes most from" in table) == (sweep == "everything")
    (document,) = json.loads(case.to_json())["results"]
    assert (document["uncertainty"] or {"swept": None})["swept"] == sweep
    header, *rows = csv.reader(benchmark_csv([case]).splitlines())
    (total,) = (row for row in rows if row[header.index("row")] == "Total Inference Time")
    assert bool(total[header.index("us_low")]) == (sweep is not None)


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
