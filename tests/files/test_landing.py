"""Report files appear whole or not at all."""

import os
import resource
from pathlib import Path

import pytest

from hexsim.errors import HexsimError
from hexsim.files import replacing, require_folder, write_text


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


def test_no_file_takes_the_place_of_a_pipe_or_device(tmp_path: Path) -> None:
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    for refuse in (require_folder, lambda path: write_text(path, "x")):
        with pytest.raises(HexsimError, match="it is no ordinary file"):
            refuse(pipe)
    assert pipe.is_fifo()
    assert list(tmp_path.iterdir()) == [pipe]


def test_a_full_disk_leaves_the_old_file(tmp_path: Path) -> None:
    """The limit on file sizes stands for the disk, which no test should fill."""
    target = tmp_path / "out.json"
    target.write_text("old")
    limit = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (1000, limit[1]))
    try:
        with pytest.raises(HexsimError, match=r"cannot write .*File too large"):
            write_text(target, "x" * 2000)
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, limit)
    assert target.read_text() == "old"
    assert list(tmp_path.iterdir()) == [target]


def test_an_interrupted_write_leaves_the_old_file(tmp_path: Path) -> None:
    target = tmp_path / "out.json"
    target.write_text("old")

    def write() -> None:
        with replacing(target) as file:
            file.write(b"half")
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        write()
    assert target.read_text() == "old"
    assert list(tmp_path.iterdir()) == [target]
