"""Footnotes of the benchmark say what stands behind times on the tensor engine."""

import pytest

from hexsim.benchmark import Case, Conditions, run_benchmark
from hexsim.platform import Platform
from hexsim.reports.benchmark_table import footnotes

ASSUMED = "Nothing of the inside of the HTA is published"
ALONE = "aip runs on HVX alone"


@pytest.mark.parametrize(
    ("conditions", "expected"),
    [
        (Conditions(accuracy=False, quantize=True), (True, False)),
        (Conditions(accuracy=False, quantize=True, hta=False), (False, True)),
        (Conditions(accuracy=False, quantize=True, uncertainty=True), (False, False)),
    ],
)
def test_times_of_the_tensor_engine_point_to_their_interval(
    conditions: Conditions, expected: tuple[bool, bool]
) -> None:
    results = run_benchmark(
        ["conv1x1_16to16@8x8"], Platform.load("sd855"), ["aip"], conditions, lambda what: None
    )
    notes = footnotes([case for case in results if isinstance(case, Case)])
    assert (ASSUMED in notes, ALONE in notes) == expected
