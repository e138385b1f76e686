"""No command writes over what it reads, nor two things into one file."""

from pathlib import Path

import pytest

from hexsim.cli._output import output_path, require_outputs
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
