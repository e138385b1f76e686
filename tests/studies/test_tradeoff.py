"""Both files on all runtimes: what is refused, what is loaded how, and that figures are true."""

from collections.abc import Mapping
from dataclasses import replace
from functools import cache
from pathlib import Path

import pytest

from hexsim import dlc
from hexsim.accuracy.validation import validate
from hexsim.api import compile_hta
from hexsim.deployment.platform import Platform
from hexsim.inputs.source import seeded
from hexsim.inputs.split import InputRoles
from hexsim.quantization.model import Model
from hexsim.quantization.overrides import IntegerOverride, Overrides, Range
from hexsim.runtimes import Runtime
from hexsim.studies.tradeoff import TradeoffChoice, TradeoffConditions, tradeoff
from tests.accuracy import culprits
from tests.deployed import deployed

FEEDS = culprits.inputs(4)
INPUTS = InputRoles(seeded(FEEDS, culprits.network()))


@cache
def plainly_chosen(chip: str, fault: str = "outlier") -> Mapping[tuple[str, str], TradeoffChoice]:
    """What `chosen` gives without conditions, computed once."""
    return chosen(chip, fault=fault)


def chosen(
    chip: str,
    conditions: TradeoffConditions | None = None,
    fault: str = "outlier",
    inputs: InputRoles = INPUTS,
) -> dict[tuple[str, str], TradeoffChoice]:
    model = culprits.quantized(fault)
    platform = Platform.load(chip)
    comparison = tradeoff(model.network, model, platform, inputs, conditions)
    return {(choice.file, choice.runtime): choice for choice in comparison.choices}


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
        assert (choice.timing is None) is (choice.accuracy is None) is bool(choice.refusal)


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
        accuracy = choices["quantised", runtime].accuracy
        expected = validate(deployed(model, runtime, "sd855"), FEEDS, labels=labels)
        assert accuracy is not None
        assert accuracy.sqnr_db == pytest.approx(expected.output_sqnr_db)
        hits = (accuracy.inputs, accuracy.top1, accuracy.right, accuracy.float_right)
        counted = expected.hits
        assert hits == (
            *(counted.inputs, counted.same_top1, counted.runtime_top1, counted.float_top1),
        )


def test_sections_of_the_file_are_computed_by_the_tensor_engine() -> None:
    """All layers are there, so `aip` has the accuracy of kernels for unsigned weights."""
    model = compile_hta(culprits.quantized("outlier"))
    sqnrs_db = {
        choice.runtime: choice.accuracy.sqnr_db
        for choice in tradeoff(model.network, model, Platform.load("sd855"), INPUTS).choices
        if choice.file == "quantised" and choice.accuracy
    }
    assert sqnrs_db["aip"] == sqnrs_db["fxp_cpu"] != sqnrs_db["dsp"]


def test_a_quantized_file_on_the_cpu_has_rounded_weights() -> None:
    choices = plainly_chosen("sd835", "none")
    floats, codes, dsp = (
        choices[key].accuracy
        for key in (("float", "cpu"), ("quantised", "cpu"), ("quantised", "dsp"))
    )
    assert floats is not None
    assert codes is not None
    assert dsp is not None
    assert floats.sqnr_db > 100
    assert dsp.sqnr_db < codes.sqnr_db < 60, "activations are rounded on the dsp only"


def test_a_float_file_on_the_dsp_is_quantized_at_load() -> None:
    choices = plainly_chosen("sd835")
    floats, codes = choices["float", "dsp"], choices["quantised", "dsp"]
    assert floats.timing is not None
    assert codes.timing is not None
    assert floats.timing.init_part_ps("quantize") > 0 == codes.timing.init_part_ps("quantize")
    assert floats.timing.total_ps == codes.timing.total_ps


def test_without_a_float_network_there_is_no_float_file() -> None:
    model = culprits.quantized("outlier")
    choices = tradeoff(None, model, Platform.load("sd835"), INPUTS).choices
    assert {choice.file for choice in choices} == {"quantised"}


def test_overrides_count_when_the_float_file_is_quantized_at_load() -> None:
    narrow = Overrides({"c1.out": IntegerOverride(8, (Range(0.0, 0.1),))})
    plain = plainly_chosen("sd835")
    given = chosen("sd835", TradeoffConditions(overrides=narrow))
    before, after, codes = (
        choices[file, "dsp"].accuracy
        for choices, file in ((plain, "float"), (given, "float"), (given, "quantised"))
    )
    assert before is not None
    assert after is not None
    assert codes is not None
    assert after.sqnr_db < before.sqnr_db - 5, "c1.out is cut to a tenth"
    assert codes.sqnr_db > before.sqnr_db - 5, "that file was quantised without"
    timed = given["float", "dsp"].timing
    assert timed is not None
    assert timed.init_part_ps("quantize") > 0


def test_a_notebook_shows_a_row_per_choice() -> None:
    model = culprits.quantized("outlier")
    comparison = tradeoff(model.network, model, Platform.load("sd835"), INPUTS)
    refused = [choice for choice in comparison.choices if choice.refusal]
    count = len(comparison.choices)
    assert repr(comparison).endswith(f"on sd835: {count} choices, {len(refused)} refused>")
    table = comparison.display_table()
    for choice, row in zip(comparison.choices, table.rows, strict=True):
        cells = dict(zip(table.columns, row, strict=True))
        assert (cells["file"], cells["runtime"]) == (choice.file, choice.runtime)
        if choice.timing is None:
            assert cells["ms"] is None
            assert cells["at_load"] == f"refused: {choice.refusal}"
        else:
            assert cells["ms"] == pytest.approx(choice.timing.total_us / 1e3)
    assert comparison._repr_html_().count("<rect") == count
