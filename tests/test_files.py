"""Report files appear whole or not at all."""

from pathlib import Path

import pytest

from hexsim.errors import HexsimError
from hexsim.files import require_folder, write_text


def test_replaces_a_file(tmp_path: Path) -> None:
    target = tmp_path / "out.json"
    target.write_text("old")
    write_text(target, "new\n")
    assert target.read_text() == "new\n"
    assert [p.name for p in tmp_path.iterdir()] == ["out.json"]


def test_missing_folder_is_one_sentence(tmp_path: Path) -> None:
    with pytest.raises(HexsimError, match=r"cannot write .*No such file"):
        write_text(tmp_path / "nowhere" / "out.json", "x")


def test_a_folder_in_the_way_leaves_nothing_behind(tmp_path: Path) -> None:
    (tmp_path / "out.json").mkdir()
    with pytest.raises(HexsimError, match="cannot write"):
        write_text(tmp_path / "out.json", "x")
    assert [p.name for p in tmp_path.iterdir()] == ["out.json"]


def test_a_place_is_checked_before_long_work(tmp_path: Path) -> None:
    require_folder(tmp_path / "out.json")
    with pytest.raises(HexsimError, match="no such folder"):
        require_folder(tmp_path / "nowhere" / "out.json")
    with pytest.raises(HexsimError, match="it is a folder"):
        require_folder(tmp_path)
