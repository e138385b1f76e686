"""Files appear whole or not at all, several of them together."""

import os
import resource
from pathlib import Path

import pytest

from hexsim.errors import HexsimError
from hexsim.files import atomic_write as module
from hexsim.files.atomic_write import (
    claim,
    replacing,
    scratch,
    transaction,
    write_bytes,
    write_text,
)
from hexsim.files.places import identity, require_place


def test_replaces_a_file(tmp_path: Path) -> None:
    target = tmp_path / "out.json"
    target.write_text("old")
    write_text(target, "new\n")
    assert target.read_text() == "new\n"
    assert [p.name for p in tmp_path.iterdir()] == ["out.json"]


def test_missing_folder_is_one_sentence(tmp_path: Path) -> None:
    with pytest.raises(HexsimError, match="no such folder"):
        write_text(tmp_path / "nowhere" / "out.json", "x")


def test_a_folder_in_the_way_leaves_nothing_behind(tmp_path: Path) -> None:
    (tmp_path / "out.json").mkdir()
    with pytest.raises(HexsimError, match="cannot write"):
        write_text(tmp_path / "out.json", "x")
    assert [p.name for p in tmp_path.iterdir()] == ["out.json"]


def test_a_place_is_checked_before_long_work(tmp_path: Path) -> None:
    require_place(tmp_path / "out.json")
    with pytest.raises(HexsimError, match="no such folder"):
        require_place(tmp_path / "nowhere" / "out.json")
    with pytest.raises(HexsimError, match="it is a folder"):
        require_place(tmp_path)


def test_no_file_takes_the_place_of_a_pipe_or_device(tmp_path: Path) -> None:
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    for refuse in (require_place, lambda path: write_text(path, "x")):
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


def test_a_new_file_has_what_the_umask_leaves(tmp_path: Path) -> None:
    for mask, mode in ((0o022, 0o644), (0o077, 0o600), (0o002, 0o664)):
        before = os.umask(mask)
        try:
            write_text(tmp_path / f"{mask}", "x")
        finally:
            os.umask(before)
        assert (tmp_path / f"{mask}").stat().st_mode & 0o777 == mode


def test_a_replaced_file_keeps_its_mode(tmp_path: Path) -> None:
    target = tmp_path / "out.json"
    for mode in (0o600, 0o664, 0o755):
        target.touch()
        target.chmod(mode)
        write_text(target, "new")
        assert target.stat().st_mode & 0o777 == mode


def test_a_link_stays_one_and_its_target_is_replaced(tmp_path: Path) -> None:
    (tmp_path / "there").mkdir()
    (tmp_path / "there/real").write_text("old")
    (tmp_path / "link").symlink_to("there/real")
    write_text(tmp_path / "link", "new")
    assert (tmp_path / "link").is_symlink()
    assert (tmp_path / "there/real").read_text() == "new"
    (tmp_path / "to-nothing").symlink_to("there/new")
    write_text(tmp_path / "to-nothing", "made")
    assert (tmp_path / "there/new").read_text() == "made"


def test_a_hard_link_is_cut(tmp_path: Path) -> None:
    (tmp_path / "one").write_text("old")
    os.link(tmp_path / "one", tmp_path / "two")
    write_text(tmp_path / "two", "new")
    assert (tmp_path / "one").read_text() == "old"


def test_files_land_when_all_are_finished(tmp_path: Path) -> None:
    with transaction():
        write_text(tmp_path / "a", "a")
        write_bytes(tmp_path / "deep/er/b", b"b", parents=True)
        assert not list(tmp_path.glob("[!.]*"))
    assert (tmp_path / "a").read_text() == "a"
    assert (tmp_path / "deep/er/b").read_bytes() == b"b"
    assert not list(tmp_path.rglob(".*"))


def test_none_lands_if_the_work_fails(tmp_path: Path) -> None:
    (tmp_path / "a").write_text("old")

    def work() -> None:
        with transaction():
            write_text(tmp_path / "a", "new")
            raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError):
        work()
    assert {path.name: path.read_text() for path in tmp_path.iterdir()} == {"a": "old"}


def test_what_has_landed_is_taken_back_if_the_next_cannot(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The third of four files: a folder was put in its way after all were finished."""
    for name in "ab":
        (tmp_path / name).write_text("old")

    def work() -> None:
        with transaction():
            write_text(tmp_path / "a", "new")
            write_bytes(tmp_path / "deep/new", b"new", parents=True)
            write_text(tmp_path / "c", "new")
            write_text(tmp_path / "b", "new")
            (tmp_path / "c").mkdir()

    with pytest.raises(HexsimError, match=r"cannot write '.*/c'"):
        work()
    assert (tmp_path / "a").read_text() == (tmp_path / "b").read_text() == "old"
    assert sorted(path.name for path in tmp_path.iterdir()) == ["a", "b", "c"]


def test_a_disk_without_hard_links_keeps_what_it_had(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """What cannot be taken back is left as it is, never removed."""

    def refuse(*names: object) -> None:
        raise PermissionError

    monkeypatch.setattr(module.os, "link", refuse)
    (tmp_path / "a").write_text("old")

    def work() -> None:
        with transaction():
            write_text(tmp_path / "a", "new")
            write_text(tmp_path / "c", "new")
            (tmp_path / "c").mkdir()

    with pytest.raises(HexsimError):
        work()
    assert (tmp_path / "a").exists()


def test_no_file_is_written_twice_or_over_what_is_kept(tmp_path: Path) -> None:
    (tmp_path / "kept").write_text("old")
    os.link(tmp_path / "kept", tmp_path / "second name")
    kept = {identity(tmp_path / "kept"): "would overwrite an input"}
    with transaction(lambda: kept):
        for name in ("kept", "second name"):
            with pytest.raises(HexsimError, match="would overwrite an input"):
                write_text(tmp_path / name, "new")
        write_text(tmp_path / "a", "a")
        with pytest.raises(HexsimError, match="two outputs would be written"):
            write_text(tmp_path / "./a", "a")
        with pytest.raises(HexsimError, match="two outputs would be written"):
            write_bytes(tmp_path / "a/Result_0/y.raw", b"y", parents=True)
    assert (tmp_path / "kept").read_text() == "old"


def test_names_that_differ_in_case_alone(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """They are two files where the folder tells them apart, and one where it does not."""
    with transaction():
        claim([tmp_path / "out", tmp_path / "OUT"])
    monkeypatch.setattr(module, "same_but_for_case", lambda name, other: True)
    with transaction(), pytest.raises(HexsimError, match="two outputs"):
        claim([tmp_path / "out", tmp_path / "OUT"])


def test_a_long_name_is_as_good_as_any(tmp_path: Path) -> None:
    name = "n" * 255
    write_text(tmp_path / name, "x")
    with pytest.raises(HexsimError, match="File name too long"):
        require_place(tmp_path / (name + "n"))


def test_a_scratch_folder_is_gone_and_its_files_were_there(tmp_path: Path) -> None:
    with transaction():
        write_text(tmp_path / "later", "x")
        with scratch() as folder:
            write_text(folder / "now", "x")
            assert (folder / "now").read_text() == "x"
            assert folder.stat().st_mode & 0o777 == 0o700
        assert not folder.exists()
        assert not (tmp_path / "later").exists()
    assert (tmp_path / "later").exists()


def test_of_two_writers_one_has_the_last_word(tmp_path: Path) -> None:
    target = tmp_path / "out"
    with replacing(target) as first, replacing(target) as other:
        first.write(b"1" * 100_000)
        other.write(b"2" * 100_000)
    assert target.read_bytes() == b"1" * 100_000
    assert [path.name for path in tmp_path.iterdir()] == ["out"]
