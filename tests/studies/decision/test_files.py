"""Both files on all runtimes: what is refused, what is loaded how, and that figures are true."""

import math
from collections.abc import Mapping
from dataclasses import replace
from functools import cache
from pathlib import Path

import pytest

from hexsim import dlc
from hexsim.accuracy.validation import validate
from hexsim.api.model import compile_hta
from hexsim.deployment.platform import Platform
from hexsim.errors import HexsimError
from hexsim.inputs.source import InputRoles, seeded
from hexsim.quantization.model import Model
from hexsim.quantization.overrides import NO_OVERRIDES, IntegerOverride, Overrides, Range
from hexsim.results.decision import Decision, FileChoice
from hexsim.runtimes import Runtime
from hexsim.studies.decision.files import FileConditions, GivenFiles, compare_files
from hexsim.studies.judging import ComparedModel
from tests.accuracy import culprits
from tests.deployed import deployed

FEEDS = culprits.inputs(4)
INPUTS = InputRoles(seeded(FEEDS, culprits.network()))


def compared(
    model: Model, chip: str, inputs: InputRoles = INPUTS, overrides: Overrides = NO_OVERRIDES
) -> Decision:
    """The quantised model beside its float network."""
    given = GivenFiles(ComparedModel(model, "floats", overrides=overrides), model.network)
    return compare_files(given, [Platform.load(chip)], inputs, FileConditions())


@cache
def plainly_chosen(chip: str, fault: str = "outlier") -> Mapping[tuple[str, str], FileChoice]:
    """What `chosen` gives without conditions, computed once."""
    return chosen(chip, fault=fault)


def chosen(
    chip: str,
    overrides: Overrides = NO_OVERRIDES,
    fault: str = "outlier",
    inputs: InputRoles = INPUTS,
) -> dict[tuple[str, str], FileChoice]:
    comparison = compared(culprits.quantized(fault), chip, inputs, overrides)
    return {(choice.file, choice.runtime): choice for choice in comparison.files}


@pytest.mark.parametrize(
    ("chip", "refused"),
    [
        ("sd835", {"fxp_cpu"}),
        ("sd855", {"fxp_cpu", "aip"}),
        ("sd865", {"dsp", "aip"}),
    ],
)
def test_who_refuses_a_float_file(chip: str, refused: set[str]) -> None:
    choices = plainly_chosen(chip)
    assert {key for key, choice in choices.items() if choice.refusal} == {
        ("float", runtime) for runtime in refused
    }
    for choice in choices.values():
        is_unknown = choice.total_inference_us is None
        assert is_unknown is (choice.inputs is None) is bool(choice.refusal)


def test_sizes_are_those_of_the_files(tmp_path: Path) -> None:
    choices = plainly_chosen("sd835")
    model = culprits.quantized("outlier")
    for kind, written in (("float", Model(model.network)), ("quantised", model)):
        dlc.write(tmp_path / "f.dlc", written)
        assert choices[kind, "cpu"].file_bytes == (tmp_path / "f.dlc").stat().st_size


def test_accuracy_is_that_of_a_validation() -> None:
    """The network has no softmax, so class scores are its outputs."""
    labels = ((1,), (2,), (3,), (4,))
    choices = chosen("sd855", inputs=replace(INPUTS, labels=labels))
    model = culprits.quantized("outlier")
    runtimes: tuple[Runtime, ...] = ("dsp", "fxp_cpu")
    for runtime in runtimes:
        accuracy = choices["quantised", runtime]
        expected = validate(deployed(model, runtime, "sd855"), FEEDS, labels=labels)
        assert accuracy.sqnr_db == pytest.approx(expected.output_sqnr_db)
        hits = (
            *(accuracy.inputs, accuracy.same_top1),
            *(accuracy.runtime_top1, accuracy.float_top1),
        )
        counted = expected.hits
        assert hits == (
            *(counted.inputs, counted.same_top1, counted.runtime_top1, counted.float_top1),
        )


def test_sections_of_the_file_are_computed_by_the_tensor_engine() -> None:
    """All layers are there, so `aip` has the accuracy of kernels for unsigned weights."""
    model = compile_hta(culprits.quantized("outlier"), "sd855")
    sqnrs_db = {
        choice.runtime: choice.sqnr_db
        for choice in compared(model, "sd855").files
        if choice.file == "quantised"
    }
    assert sqnrs_db["aip"] == sqnrs_db["fxp_cpu"] != sqnrs_db["dsp"]


def test_a_quantized_file_on_the_cpu_has_rounded_weights() -> None:
    choices = plainly_chosen("sd835", "none")
    floats, codes, dsp = (
        math.inf if choices[key].sqnr_db is None else choices[key].sqnr_db or 0.0
        for key in (("float", "cpu"), ("quantised", "cpu"), ("quantised", "dsp"))
    )
    assert floats > 100
    assert dsp < codes < 60, "activations are rounded on the dsp only"


def test_a_float_file_on_the_dsp_is_quantized_at_load() -> None:
    choices = plainly_chosen("sd835")
    floats, codes = choices["float", "dsp"], choices["quantised", "dsp"]
    assert (floats.at_load_us or 0.0) > 0 == codes.at_load_us
    assert floats.total_inference_us == codes.total_inference_us


def test_without_a_float_network_there_is_no_float_file() -> None:
    given = GivenFiles(ComparedModel(culprits.quantized("outlier"), "own"), None)
    decided = compare_files(given, [Platform.load("sd835")], INPUTS, FileConditions())
    assert {choice.file for choice in decided.files} == {"quantised"}


def test_runtimes_and_chips_are_those_that_are_asked_for() -> None:
    given = GivenFiles(ComparedModel(culprits.quantized("outlier"), "own"), None)
    platforms = [Platform.load(chip) for chip in ("sd835", "sd855")]
    decided = compare_files(given, platforms, INPUTS, FileConditions(runtimes=["aip", "dsp"]))
    places = [(choice.chip, choice.runtime) for choice in decided.files]
    assert places == [("sd835", "dsp"), ("sd855", "dsp"), ("sd855", "aip")]
    with pytest.raises(HexsimError, match="no chip has htp"):
        compare_files(given, platforms, INPUTS, FileConditions(runtimes=["htp"]))


def test_overrides_count_when_the_float_file_is_quantized_at_load() -> None:
    narrow = Overrides({"c1.out": IntegerOverride(8, (Range(0.0, 0.1),))})
    plain, given = plainly_chosen("sd835"), chosen("sd835", narrow)
    before, after, codes = (
        choices[file, "dsp"].sqnr_db or 0.0
        for choices, file in ((plain, "float"), (given, "float"), (given, "quantised"))
    )
    assert after < before - 5, "c1.out is cut to a tenth"
    assert codes > before - 5, "that file was quantised without"
    assert (given["float", "dsp"].at_load_us or 0.0) > 0


def test_a_notebook_shows_a_row_per_choice() -> None:
    decided = compared(culprits.quantized("outlier"), "sd835")
    refused = [choice for choice in decided.files if choice.refusal]
    count = len(decided.files)
    assert repr(decided).endswith(f"on sd835: {count} choices, {len(refused)} refused>")
    assert decided._repr_html_().count("<tr>") == 1 + count
    assert Decision.from_json(decided.to_json()).to_json() == decided.to_json()
