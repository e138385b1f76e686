"""No command writes over what it reads, nor two things into one file."""

from pathlib import Path

import pytest

from hexsim.cli._output import JsonCsvTrace, output_path, require_outputs
from hexsim.errors import HexsimError


@pytest.fixture(autouse=True)
def _folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    Path("list.txt").write_text("a.raw\n")


def test_the_default_lies_beside_the_model() -> None:
    assert output_path("nets/m.dlc", None, "q.dlc") == Path("nets/q.dlc")
    assert output_path("nets/m.dlc", Path("q.dlc"), "x") == Path("q.dlc")


def test_outputs_of_their_own_are_fine() -> None:
    require_outputs((Path("a.json"), None, Path("b.csv")), ("m.dlc", None, Path("list.txt")))


@pytest.mark.parametrize("name", ["list.txt", "./list.txt", "link.txt"])
def test_an_input_is_not_overwritten(name: str) -> None:
    Path("link.txt").symlink_to("list.txt")
    with pytest.raises(HexsimError, match=f"'{Path(name)}' would overwrite an input"):
        require_outputs((Path(name),), ("m.dlc", Path("list.txt")))


def test_two_outputs_need_two_files() -> None:
    with pytest.raises(HexsimError, match=r"two outputs would be written to 'x\.json'"):
        require_outputs((Path("x.json"), Path("x.json")))


def test_the_folder_has_to_exist() -> None:
    with pytest.raises(HexsimError, match="no such folder"):
        require_outputs((Path("none/x.json"),))


def test_a_group_writes_what_was_asked_for_and_makes_nothing_else() -> None:
    outputs = JsonCsvTrace(json=Path("x.json"), trace=Path("x.trace"))
    made = []

    def content(of: str) -> str:
        made.append(of)
        return f"{of} ü"

    outputs.write(
        json=lambda: content("json"), csv=lambda: content("csv"), trace=lambda: b"\x00\xff"
    )
    assert made == ["json"]
    assert Path("x.json").read_text(encoding="utf-8") == "json ü"
    assert Path("x.trace").read_bytes() == b"\x00\xff"
    assert not Path("x.csv").exists()


@pytest.mark.parametrize(
    ("outputs", "sentence"),
    [
        (JsonCsvTrace(csv=Path("list.txt")), "'list.txt' would overwrite an input"),
        (JsonCsvTrace(json=Path("x"), trace=Path("x")), "two outputs would be written to 'x'"),
        (JsonCsvTrace(trace=Path("none/x")), "no such folder"),
    ],
)
def test_every_field_of_a_group_is_an_output(outputs: JsonCsvTrace, sentence: str) -> None:
    with pytest.raises(HexsimError, match=sentence):
        outputs.require("m.dlc", None, Path("list.txt"))
    JsonCsvTrace(json=Path("y")).require("m.dlc", Path("list.txt"))
