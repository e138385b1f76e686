"""Sentences stay readable whatever the names in them are."""

import math
import re
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import hexsim
from hexsim.cli import app
from hexsim.cli._parameters import parameters
from hexsim.cli._signature import option
from hexsim.errors import HexsimError, require_number, spelled, spelling_as, unknown
from hexsim.runtimes import RUNTIMES
from hexsim.snpe.tool import their_option
from hexsim.studies.processes import processes


def test_only_words_that_were_made_long_are_shortened() -> None:
    sentence = f"layer '{'y' * 5000}' reads '/a/{'path' * 50}', which nobody writes"
    expected = f"layer '{'y' * 200}...' reads '/a/{'path' * 50}', which nobody writes"
    assert str(HexsimError(sentence)) == expected
    assert str(HexsimError("short words stay " * 100)).count("stay") == 100
    assert str(HexsimError(f"no '{'a b' * 500}' here")) == f"no '{('a b' * 67)[:200]}...' here"
    assert (
        str(HexsimError(f"it is {[5] * 400}; expected 1"))
        == f"it is {f'{[5] * 70}'[:200]}...]; expected 1"
    )
    assert len(str(HexsimError("[1], " * 10_000))) < 4000


@pytest.mark.parametrize("value", [-1, 10.5, math.nan, math.inf, "3", None, True])
def test_a_number_outside_its_bounds_is_named(value: Any) -> None:
    with pytest.raises(HexsimError, match=r"idle is a number from 0 to 10, not "):
        require_number("idle", value, 0, 10)


@pytest.mark.parametrize("value", [0, 10, 2.5, np.float32(1)])
def test_a_number_within_its_bounds_is_taken(value: Any) -> None:
    require_number("idle", value, 0, 10)


def test_a_name_that_is_no_text_is_unknown_too() -> None:
    number: Any = 835
    assert str(unknown("chip", number, ["sd835"])).startswith("unknown chip '835'; ")


def test_letters_in_another_order_are_the_name_that_was_meant() -> None:
    chips = ["sd835", "sd845", "sd855", "sd865"]
    assert str(unknown("chip", "sd385", chips)).endswith("; did you mean sd835?")
    assert str(unknown("chip", "SD835", chips)).endswith("; did you mean sd835?")
    for said, runtime in (("NPU", "htp"), ("hexagon", "dsp"), ("hta", "aip"), ("GPU", "gpu")):
        assert str(unknown("runtime", said, RUNTIMES)).endswith(f"; did you mean {runtime}?")


def test_names_with_the_same_number_come_first() -> None:
    chips = ["sd690", "sd660", "sd855", "qcs605", "sd765"]
    sentence = str(unknown("chip", "sd605", chips))
    assert sentence.startswith("unknown chip 'sd605'; did you mean qcs605 or ")
    single = str(unknown("layer", "conv7", ["conv1", "conv2"]))
    assert single.endswith("did you mean conv2 or conv1?"), "one digit counts no more than a letter"


OPTION = re.compile(r"(?<![-\w])--[a-z][a-z_-]+")
PROGRAMS_OF_OTHERS = {
    "frameworks/_keras_file.py",
    "frameworks/tensorflow.py",
    "hvx/code/disassembly.py",
    "hvx/code/emulation.py",
}
COMMANDS_TO_TYPE = {
    "datasheets/measurements/__init__.py",
    "studies/decision/modes.py",
    "reports/summary.py",
    "results/phone.py",
    "results/quantization.py",
}
"""Files whose text is whole command lines, for the user to type or in the page on JSON."""


def test_below_the_commands_no_sentence_names_an_option() -> None:
    root = Path(hexsim.__file__).parent
    files = {path.relative_to(root).as_posix(): path for path in root.rglob("*.py")}
    named = {
        name: OPTION.findall(path.read_text())
        for name, path in files.items()
        if name.split("/")[0] not in ("cli", "snpe")
    }
    assert {name for name in named if named[name]} <= PROGRAMS_OF_OTHERS | COMMANDS_TO_TYPE


def parameters_named() -> set[str]:
    """The parameters that sentences name."""
    texts = (path.read_text() for path in Path(hexsim.__file__).parent.rglob("*.py"))
    return {name for text in texts for name in re.findall(r"spelled\(['\"](\w+)['\"]", text)}


def test_each_parameter_that_a_sentence_names_is_an_option_of_a_command() -> None:
    known = {
        name
        for command in app.commands().values()
        for taken in parameters(command)
        for name in taken.names
    }
    named = {option(name) for name in parameters_named()}
    assert len(named) > 60
    assert named - known == set()


def test_each_program_spells_parameters_in_its_own_way() -> None:
    def said() -> str:
        dims = spelled("input_dims", {"x": (1, 3)})
        return f"{spelled('weight_bits', 8)}, {spelled('axis_weights', True)}, {dims}"

    python = "weight_bits=8, axis_weights=True, input_dims={'x': (1, 3)}"
    assert said() == python
    with spelling_as(option):
        assert said() == "--weights-bitwidth 8, --axis-quant, --input-dim x 1,3"
        with spelling_as(partial(their_option, "snpe-onnx-to-dlc")):
            assert said().endswith("--input_dim x 1,3")
        with spelling_as(partial(their_option, "snpe-dlc-quantize")):
            assert said().startswith("--weights_bitwidth 8, --axis_quant, ")
    assert said() == python


def test_workers_spell_parameters_as_the_program_that_started_them() -> None:
    with spelling_as(option), processes(1) as pool:
        answers = [text for _, text in pool.in_parts(_said_there, "vtcm_mb", [range(1)], "items")]
    assert answers == ["--vtcm"]


def _said_there(name: str, first: int, end: int) -> str:
    return spelled(name)
