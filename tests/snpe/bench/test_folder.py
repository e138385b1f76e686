"""The newest folder goes on if it is unfinished and of the same benchmark."""

import os
from pathlib import Path

import pytest

from hexsim.errors import HexsimError
from hexsim.snpe.bench.folder import LATEST, digests, results_folder


def test_same_and_unfinished_goes_on(tmp_path: Path) -> None:
    first, resumed = results_folder(tmp_path, {"a": 1}, "end")
    assert not resumed
    assert os.readlink(tmp_path / LATEST) == first.name
    assert results_folder(tmp_path, {"a": 1}, "end") == (first, True)
    second, resumed = results_folder(tmp_path, {"a": 2}, "end")
    assert (second != first, resumed) == (True, False)
    assert results_folder(tmp_path, {"a": 2}, "end") == (second, True)
    (second / "end").touch()
    third, resumed = results_folder(tmp_path, {"a": 2}, "end")
    assert (third not in (first, second), resumed) == (True, False)
    assert {path.name for path in tmp_path.iterdir()} == {
        *(path.name for path in (first, second, third)),
        LATEST,
    }


def test_a_link_to_nowhere_is_replaced(tmp_path: Path) -> None:
    (tmp_path / LATEST).symlink_to("gone")
    folder, resumed = results_folder(tmp_path, {}, "end")
    assert not resumed
    assert (tmp_path / LATEST).resolve() == folder.resolve()


def test_what_is_no_link_stays(tmp_path: Path) -> None:
    (tmp_path / LATEST).write_text("mine")
    with pytest.raises(HexsimError, match="is no link"):
        results_folder(tmp_path, {}, "end")
    assert (tmp_path / LATEST).read_text() == "mine"


def test_digests_tell_files_apart(tmp_path: Path) -> None:
    files = [tmp_path / name for name in ("a", "b", "c")]
    files[0].write_text("x")
    files[1].write_text("y")
    by_file = digests(files)
    assert len(set(by_file.values())) == len(by_file) == 2
