"""Parts of long work are made once, found by what they were made of, and never trusted damaged."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from hexsim.files import checkpoint
from hexsim.files.checkpoint import Checkpoints, hash_of


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


def test_without_a_private_folder_nothing_is_kept(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(checkpoint, "private_folder", lambda name: None)
    work = Work("done")
    parts = Checkpoints("work", [])
    assert [parts.part(["one"], work) for _ in range(2)] == ["done", "done"]
    assert (work.done, parts.knows(["one"])) == (2, False)


def test_texts_are_reported_from_their_neighbours() -> None:
    hashes = {hash_of(texts) for texts in (["ab", "c"], ["a", "bc"], ["abc"], ["abc", ""])}
    assert len(hashes) == 4
    assert hash_of([b"ab"]) == hash_of(["ab"])
