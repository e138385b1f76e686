"""`hexsim.info` answers as its command, by every entry point."""

from collections.abc import Callable
from pathlib import Path

import pytest

import hexsim
from hexsim.results.info import Info

Command = Callable[[str], tuple[int, str, str]]


@pytest.mark.parametrize(
    ("line", "ask"),
    [
        ("squeezenet1_1", lambda: hexsim.info("squeezenet1_1")),
        (
            "squeezenet1_1 --chip sd8gen2 --memory htp",
            lambda: hexsim.info("squeezenet1_1", "sd8gen2", memory="htp"),
        ),
        (
            "squeezenet1_1 --chip sd855 --runtime gpu",
            lambda: hexsim.info("squeezenet1_1", "sd855", "gpu"),
        ),
    ],
    ids=["layers", "times and memory", "runtime"],
)
@pytest.mark.filterwarnings("ignore")
def test_a_function_gives_what_its_command_gives(
    command: Command, line: str, ask: Callable[[], Info]
) -> None:
    code, _, _ = command(f"info {line} --json i.json --csv i.csv")
    assert code == 0
    answer = ask()
    assert answer.to_json() == Path("i.json").read_text()
    assert answer.to_csv() == Path("i.csv").read_text()
    assert Info.load("i.json") == answer


def test_a_model_in_memory_is_listed_too() -> None:
    answer = hexsim.info(hexsim.load("squeezenet1_1"))
    assert answer.layers == hexsim.info("squeezenet1_1").layers
    assert repr(answer).startswith("<Info: squeezenet1_1: float, ")


@pytest.mark.parametrize(
    ("given", "sentence"),
    [
        ({"runtime": "dsp"}, "runtime is for the times on a chip; give chip too"),
        ({"memory": "dps"}, "unknown memory 'dps'"),
        ({"imports": True}, "give the ONNX file"),
        ({"chp": "sd855"}, r"info takes no 'chp'; did you mean chip\?"),
    ],
)
def test_mistakes_are_sentences(given: dict[str, object], sentence: str, tmp_path: Path) -> None:
    hexsim.save(hexsim.load("conv1x1_16to32@4x4"), tmp_path / "m.dlc")
    with pytest.raises(hexsim.HexsimError, match=sentence):
        hexsim.info(tmp_path / "m.dlc", **given)  # type: ignore[arg-type]
