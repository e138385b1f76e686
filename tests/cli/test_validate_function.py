"""`hexsim.validate` answers as its command, by every door, and says what it does not take."""

import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

import hexsim
from hexsim import dlc
from hexsim.cli._signature import option
from hexsim.errors import spelling_as
from hexsim.quantization.model import Model
from hexsim.results.validation import Validation
from tests.accuracy import culprits

Command = Callable[[str], tuple[int, str, str]]


@pytest.fixture(autouse=True)
def files(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """m.dlc, and q.dlc made from it; list.txt with its raw files; labels.txt."""
    monkeypatch.chdir(tmp_path)
    dlc.write(tmp_path / "m.dlc", Model(culprits.network("outlier")))
    dlc.write(tmp_path / "q.dlc", culprits.quantized("outlier"))
    for index, feed in enumerate(culprits.inputs(4)):
        feed["in"].tofile(f"list{index}.raw")
    Path("list.txt").write_text("".join(f"list{index}.raw\n" for index in range(4)))
    Path("labels.txt").write_text("1\n2\n3\n4\n")


@pytest.mark.parametrize(
    ("line", "ask"),
    [
        (
            "m.dlc --input-list list.txt --labels labels.txt --sensitivity --explain",
            lambda: hexsim.validate(
                "m.dlc",
                inputs="list.txt",
                labels="labels.txt",
                sensitivity=True,
                explain=True,
                chip="sd835",
            ),
        ),
        (
            "q.dlc --float m.dlc --input-list list.txt --part judge --chip sd855 --runtime fxp_cpu",
            lambda: hexsim.validate(
                "q.dlc",
                "sd855",
                "fxp_cpu",
                float_model="m.dlc",
                inputs="list.txt",
                part="judge",
            ),
        ),
        ("m.dlc --runtime gpu", lambda: hexsim.validate("m.dlc", runtime="gpu", chip="sd835")),
        (
            "m.dlc --calibration-list list.txt",
            lambda: hexsim.validate("m.dlc", calibration="list.txt", chip="sd835"),
        ),
    ],
    ids=["float", "quantised", "in floats", "seeded"],
)
def test_a_function_gives_what_its_command_gives(
    command: Command, line: str, ask: Callable[[], Validation]
) -> None:
    code, _, _ = command(f"validate --chip sd835 {line} --json command.json --csv command.csv")
    assert code == 0
    with spelling_as(option):  # remedies name parameters
        answer = ask()
    answer.save("function.json")
    assert Path("function.json").read_bytes() == Path("command.json").read_bytes()
    assert answer.to_csv() == Path("command.csv").read_text()
    read = Validation.load("command.json")
    assert read.to_json() == answer.to_json()
    assert read.layers == answer.layers
    assert re.fullmatch(r"<Validation: broken on the .*: SQNR of .*, \d inputs>", repr(answer))


def test_labels_and_models_in_memory_are_those_of_files() -> None:
    files = hexsim.validate(
        "q.dlc", float_model="m.dlc", inputs="list.txt", labels="labels.txt", chip="sd835"
    )
    floats, coded = hexsim.load("m.dlc"), hexsim.load("q.dlc")
    given: dict[str, Any] = {"inputs": "list.txt", "labels": [1, 2, (3,), 4]}
    memory = hexsim.validate(coded, "sd835", float_model=floats, **given)
    assert (memory.hits, memory.layers) == (files.hits, files.layers)


@pytest.mark.parametrize(
    ("given", "sentence"),
    [
        ({"explan": True}, r"validate takes no 'explan'; did you mean explain\?"),
        ({"runtime": "dps"}, "unknown runtime 'dps'"),
        ({"labels": [1]}, "labels goes with inputs, which judge the answers; give both"),
        ({"part": "judge"}, "part goes with inputs, which judge the answers; give both"),
        ({"runtime": "cpu", "explain": True}, "runtime cpu computes in floats; sensitivity, "),
        ({"inputs": "list.txt", "labels": [1]}, "1 labels for 4 inputs; give one for each"),
        ({"inputs": "list.txt", "part": "judge"}, "part goes with a quantised model"),
    ],
)
def test_mistakes_are_sentences(given: dict[str, Any], sentence: str) -> None:
    with pytest.raises(hexsim.HexsimError, match=sentence):
        hexsim.validate("m.dlc", **given)
