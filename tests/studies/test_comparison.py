"""Cases of two chips are paired by what they do, so that a phone is compared with its successor."""

from msgspec.structs import replace

from hexsim.reports.differences import comparison_table
from hexsim.results.benchmark import Benchmark, Inference
from hexsim.results.costs import TimeError
from hexsim.runtimes import Runtime
from hexsim.studies.comparison import Written, compare
from tests.charts import LAYERS
from tests.charts import case as a_case


def _on(chip: str, *runtimes: Runtime) -> Written:
    cases: list[Inference] = [
        replace(a_case(*LAYERS), chip=chip, runtime=runtime) for runtime in runtimes
    ]
    return Written(Benchmark(results=tuple(cases)))


def test_the_dsp_is_compared_with_the_tensor_processor_of_another_chip() -> None:
    change = compare(_on("sd855", "cpu", "dsp", "aip"), _on("sd8gen2", "htp_fp16", "cpu", "htp"))
    assert [case.place for case in change.cases] == [
        "cpu of sd855 -> cpu of sd8gen2",
        "dsp of sd855 -> htp of sd8gen2",
        "aip of sd855 -> htp_fp16 of sd8gen2",
    ]
    assert (change.only_before, change.only_after) == ((), ())


def test_on_one_chip_they_are_not_alike() -> None:
    change = compare(_on("sd8gen2", "cpu", "dsp"), _on("sd8gen2", "cpu", "htp"))
    assert [case.place for case in change.cases] == ["cpu of sd8gen2"]
    assert change.only_before == (f"{a_case().network} on dsp of sd8gen2",)


def test_on_one_chip_the_only_cases_of_a_network_are_compared() -> None:
    (case,) = compare(_on("sd855", "dsp"), _on("sd855", "cpu")).cases
    assert case.name == f"{a_case().network} on dsp of sd855 -> cpu of sd855"


def test_what_has_several_candidates_is_left_alone() -> None:
    change = compare(_on("sd855", "aip"), _on("sd8gen2", "htp_fp16", "gpu"))
    assert change.cases == ()
    assert len(change.only_after) == 2


def test_several_results_beside_the_first() -> None:
    first, second, third = _on("sd855", "cpu", "dsp"), _on("sd855", "dsp"), _on("sd8gen2", "htp")
    change = compare(first, second, third)
    places = [case.place for case in change.cases]
    assert places == ["dsp of sd855", "dsp of sd855 -> htp of sd8gen2"]
    assert change.cases == (*compare(first, second).cases, *compare(first, third).cases)
    assert len(change.only_before) == 1, "said once of both"
    places = [(each.chip, each.runtime) for each in change.fastest]
    assert places == [("sd855", "cpu"), ("sd855", "dsp"), ("sd8gen2", "htp")], "times are equal"
    assert compare(second, third).fastest == (), "each has one runtime"
    assert len(change.versions) == 3


def test_how_far_such_times_have_been_from_measured_ones_is_told() -> None:
    error = TimeError.of("sd855", "snpe-1.30", "dsp")
    assert error is not None
    first, second = (
        Written(Benchmark(results=(replace(a_case(*LAYERS), chip=chip, expected_error=known),)))
        for chip, known in (("sd855", error), ("sd865", None))
    )
    change = compare(first, second)
    assert change.expected_errors == {f"sd855 {a_case().runtime}": error}
    assert f"{error.median:.0%}" in comparison_table(change)
