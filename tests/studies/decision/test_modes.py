"""Modes by name, and those that keep layers float."""

import json
from pathlib import Path

import pytest

from hexsim.errors import HexsimError
from hexsim.quantization.overrides.aimet import read_aimet
from hexsim.studies.decision import MODES, parse_modes
from hexsim.studies.decision.commands import encodings_file
from hexsim.studies.decision.modes import is_eight_bit


def test_all_are_asked_for_by_default_and_in_the_order_of_the_list() -> None:
    assert parse_modes(None) == (MODES, True)
    modes, mixed = parse_modes(" axis,default ,AXIS")
    assert ([mode.name for mode in modes], mixed) == (["default", "axis"], False)
    assert parse_modes("axis,mixed") == ((MODES[4],), True)


@pytest.mark.parametrize("text", ["", "mixed", "float,mixed", "int4", "act16,mixed"])
def test_mistakes(text: str) -> None:
    with pytest.raises(HexsimError, match=r"known: |did you mean|names no mode"):
        parse_modes(text)


def test_the_file_says_what_the_overrides_are(tmp_path: Path) -> None:
    mode = MODES[4].keeping("axis+2float", ["a", "b 'c'"])
    (tmp_path / "o.json").write_text(encodings_file(mode.floats))
    assert read_aimet(tmp_path / "o.json") == mode.overrides
    assert set(json.loads(encodings_file(mode.floats))["activation_encodings"]) == {"a", "b 'c'"}
    assert mode.words == ("--axis-quant", "--override-params")


def test_which_modes_have_8_bits() -> None:
    eight = [mode.name for mode in MODES if is_eight_bit(mode)]
    assert eight == ["default", "enhanced", "bias32", "axis", "axis+bias32", "cle", "cle+bc"]
    assert not is_eight_bit(MODES[1].keeping("one", ["a"]))
