"""Parts of long work are made once, found by what they were made of, and never trusted damaged."""

from __future__ import annotations

import shutil
from pathlib import Path
from typing import Any

import pytest

import hexsim
from hexsim.errors import HexsimError
from hexsim.files import checkpoint
from hexsim.files.checkpoint import Checkpoints, hash_of

PACKAGE = Path(hexsim.__file__).parent


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The private folder, alone for a test."""
    monkeypatch.setattr(checkpoint, "private_folder", lambda name: tmp_path)
    return tmp_path


class Work:
    """Counts how often it is done."""

    def __init__(self, result: Any) -> None:
        self.result, self.done = result, 0

    def __call__(self) -> Any:
        self.done += 1
        return self.result


def test_a_part_is_made_once(folder: Path) -> None:
    work = Work({"us": 0.1 + 0.2, "names": ("a", "b")})
    for _ in range(2):
        parts = Checkpoints("work", ["of this"])
        assert parts.part(["one"], work) == {"us": 0.1 + 0.2, "names": ["a", "b"]}
    assert work.done == 1
    assert len(list(folder.iterdir())) == 1, "and nothing is left beside it"


def test_what_it_is_made_of_makes_it_another(folder: Path) -> None:
    work = Work("done")
    for common, own in ((["a"], ["b"]), (["a"], ["c"]), (["c"], ["b"]), (["a", "b"], [])):
        assert not Checkpoints("work", common).knows(own)
        Checkpoints("work", common).part(own, work)
        assert Checkpoints("work", common).knows(own)
    assert work.done == 4


def test_another_program_is_another_part(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    work = Work("done")
    Checkpoints("work", []).part(["one"], work)
    monkeypatch.setattr(checkpoint, "program_hash", lambda: "another")
    Checkpoints("work", []).part(["one"], work)
    assert work.done == 2


@pytest.mark.parametrize("damage", [b"", b'{"part": ', b"[1]", b"\xff\xfe", b'{"other": 1}'])
def test_a_damaged_part_is_made_anew(folder: Path, damage: bytes) -> None:
    work = Work([1, 2])
    Checkpoints("work", []).part(["one"], work)
    (file,) = folder.iterdir()
    whole = file.read_bytes()
    file.write_bytes(damage)
    assert Checkpoints("work", []).part(["one"], work) == [1, 2]
    assert (work.done, file.read_bytes()) == (2, whole)


def test_without_a_private_folder_parts_are_kept_in_memory(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(checkpoint, "private_folder", lambda name: None)
    work = Work("done")
    parts, others = Checkpoints("work", []), Checkpoints("work", [])
    assert [parts.part(["one"], work) for _ in range(2)] == ["done", "done"]
    assert (work.done, parts.knows(["one"])) == (1, True)
    assert "HEXSIM_CACHE_DIR" in parts.fault
    assert not Checkpoints("work", [], stored=False).fault
    assert not others.knows(["one"])


def test_parts_that_are_not_to_be_stored_leave_no_file(folder: Path) -> None:
    parts = Checkpoints("work", [], stored=False)
    assert parts.part(["one"], Work("done")) == "done"
    assert parts.knows(["one"])
    assert not list(folder.iterdir())


def test_a_part_that_cannot_be_written_is_there_all_the_same(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A full disk changes no result; the first reason is told."""

    def full(path: Path, data: bytes) -> None:
        raise HexsimError(f"cannot write '{path.parent}': No space left on device")

    monkeypatch.setattr(checkpoint, "write_bytes", full)
    work, parts = Work([0.1, {"a": None}]), Checkpoints("work", [])
    for _ in range(2):
        assert parts.part(["one"], work) == [0.1, {"a": None}]
    assert (work.done, parts.knows(["one"])) == (1, True)
    assert parts.fault == f"cannot write '{folder}': No space left on device"


def test_every_file_of_the_program_is_in_its_hash(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Whatever its suffix: tables shape answers as code does. Python's own caches do not."""
    shutil.copytree(PACKAGE / "hvx", tmp_path / "hvx")
    (tmp_path / "hvx" / "__pycache__").mkdir(exist_ok=True)
    monkeypatch.setattr(checkpoint, "_PACKAGE", tmp_path)
    program_hash = checkpoint.program_hash.__wrapped__
    before = program_hash()
    kinds = {path.suffix: path for path in sorted(tmp_path.rglob("*")) if path.is_file()}
    kinds.pop(".pyc", None)
    assert {".csv", ".py"} <= kinds.keys()
    for path in kinds.values():
        whole = path.read_bytes()
        path.write_bytes(whole + b"#")
        assert program_hash() != before, f"{path.name} is in no key"
        path.write_bytes(whole)
    (tmp_path / "hvx" / "__pycache__" / "other.pyc").write_bytes(b"#")
    assert program_hash() == before


def test_texts_are_reported_from_their_neighbours() -> None:
    hashes = {hash_of(texts) for texts in (["ab", "c"], ["a", "bc"], ["abc"], ["abc", ""])}
    assert len(hashes) == 4
    assert hash_of([b"ab"]) == hash_of(["ab"])
