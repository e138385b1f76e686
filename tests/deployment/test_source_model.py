"""What each runtime is given of a model that a user names, and what is refused."""

from __future__ import annotations

from typing import Literal

import pytest

from hexsim.deployment.platform import Platform
from hexsim.deployment.source_model import Preparation, SourceModel
from hexsim.dlc import Container, Metadata
from hexsim.errors import HexsimError
from hexsim.quantization.model import Model
from hexsim.quantization.overrides import NO_OVERRIDES, IntegerOverride, Overrides, Range
from hexsim.runtimes import FileForm, Runtime
from tests.hearing import hearing
from tests.mixed import chain, mixed

FLOATS, CODES = Model(chain()), mixed(32, "tanh.y")
NARROW = Overrides(
    {
        "tanh.y": IntegerOverride(8, (Range(-2.0, 2.0),)),
        "gone": IntegerOverride(8, (Range(0.0, 1.0),)),
    }
)


def given(
    model: Model,
    chip: str,
    preparation: Preparation,
    overrides: Overrides = NO_OVERRIDES,
) -> SourceModel:
    read = Container(model, Metadata(), overrides)
    return SourceModel("m.dlc", read, Platform.load(chip), preparation)


@pytest.mark.parametrize(
    ("chip", "quantize", "expected"),
    [
        ("sd855", False, {"cpu": "float", "dsp": "float", "aip": "float", "fxp_cpu": "float"}),
        (
            "sd855",
            True,
            {"cpu": "float", "dsp": "float", "aip": "quantised here", "fxp_cpu": "quantised here"},
        ),
        ("sd865", True, {"gpu": "float", "dsp": "quantised here", "aip": "quantised here"}),
    ],
)
def test_a_float_model_is_quantized_here_only_for_who_loads_no_floats(
    chip: str, quantize: bool, expected: dict[Runtime, FileForm]
) -> None:
    floats = given(FLOATS, chip, Preparation(quantize=quantize))
    assert {runtime: floats.file_form(runtime) for runtime in expected} == expected
    codes = given(CODES, chip, Preparation(quantize=quantize))
    assert {codes.file_form(runtime) for runtime in expected} == {"quantised file"}


def test_it_is_quantized_once_for_all_runtimes() -> None:
    floats = given(FLOATS, "sd855", Preparation(quantize=True, sections="none"))
    with hearing() as heard:
        dsp, cpu = floats.deployment("dsp"), floats.deployment("cpu")
        assert dsp.quantizes
        assert cpu.loaded is FLOATS
        assert heard.steps == []
        codes = floats.deployment("fxp_cpu").model
        assert codes is floats.deployment("aip").model is dsp.loaded is floats.quantized
        assert heard.steps == ["quantising chain"]


def test_a_quantized_file_runs_as_it_is() -> None:
    codes = given(CODES, "sd855", Preparation(quantize=True))
    assert codes.quantized is CODES
    for runtime in ("cpu", "dsp", "aip", "fxp_cpu"):
        assert codes.deployment(runtime).loaded is CODES


@pytest.mark.parametrize("sections", ["all", "none"])
def test_what_is_quantized_here_gets_sections_for_the_tensor_engine(
    sections: Literal["all", "none"],
) -> None:
    floats = given(FLOATS, "sd855", Preparation(quantize=True, sections=sections))
    assert bool(floats.deployment("aip").on_hta) is (sections == "all")
    assert floats.deployment("fxp_cpu").on_hta == frozenset()
    in_file = given(floats.quantized, "sd855", Preparation(quantize=True, sections=sections))
    assert in_file.deployment("aip").on_hta == frozenset(), "the file has none"


def test_without_quantizing_who_loads_no_floats_refuses() -> None:
    floats = given(FLOATS, "sd855", Preparation())
    for runtime in ("aip", "fxp_cpu"):
        with pytest.raises(HexsimError, match=f"is float and {runtime} of .* refuses it"):
            floats.deployment(runtime)


def test_fallback_can_be_forbidden() -> None:
    model = given(CODES, "sd835", Preparation(cpu_fallback=False))
    with pytest.raises(
        HexsimError, match=r"\(convert\) cannot run on dsp: it converts for a float"
    ):
        model.deployment("dsp")
    assert given(CODES, "sd835", Preparation()).deployment("dsp").subnets


@pytest.mark.parametrize(
    ("model", "overrides", "sentence"),
    [(FLOATS, NO_OVERRIDES, "'m.dlc' holds no overrides"), (CODES, NARROW, "quantised already")],
)
def test_overrides_that_cannot_be_applied_are_refused(
    model: Model, overrides: Overrides, sentence: str
) -> None:
    with pytest.raises(HexsimError, match=sentence):
        given(model, "sd835", Preparation(override_params=True), overrides)


@pytest.mark.parametrize("runtime", ["dsp", "fxp_cpu"])
def test_overrides_of_the_file_are_applied_if_asked_for_at_load_and_here(runtime: Runtime) -> None:
    asked, plain = (
        given(FLOATS, "sd835", Preparation(quantize=True, override_params=apply), NARROW)
        for apply in (True, False)
    )
    assert asked.deployment(runtime).loaded.activations["tanh.y"].max > 1.9
    assert plain.deployment(runtime).loaded.activations["tanh.y"].max < 1.1
    used, unused = asked.use(runtime), plain.use(runtime)
    assert used is not None
    assert unused is not None
    assert (used.held, used.applied, used.unmatched) == (2, 1, 1)
    assert (unused.held, unused.applied, unused.unmatched) == (2, 0, 0)


def test_there_is_nothing_to_say_of_overrides_where_nothing_is_quantized() -> None:
    assert given(FLOATS, "sd835", Preparation(), NARROW).use("cpu") is None
    assert given(CODES, "sd835", Preparation(), NARROW).use("dsp") is None
    assert given(FLOATS, "sd835", Preparation()).use("dsp") is None
