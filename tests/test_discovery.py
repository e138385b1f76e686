"""What files declare is found, and nothing else."""

from __future__ import annotations

from pathlib import Path

import pytest

from hexsim.discovery import classes, joined, modules

FILES = {
    "__init__": "class Outer(int): pass",
    "one": "TABLE = {'a': 1}\nclass First(int): pass",
    "two": "from {room}.one import First\nTABLE = {{'b': 2}}\nclass Second(First): pass",
    "_shared": "TABLE = {'hidden': 3}\nclass Hidden(int): pass",
    "three": "",
}


@pytest.fixture
def room(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A package, named after its test."""
    for name, text in FILES.items():
        text = text.format(room=tmp_path.name) if "{room}" in text else text
        (tmp_path / f"{name}.py").write_text(text)
    monkeypatch.syspath_prepend(tmp_path.parent)
    return tmp_path


def test_public_files_are_found(room: Path) -> None:
    names = [module.__name__ for module in modules(room.name)]
    assert names == [f"{room.name}.{name}" for name in ("one", "three", "two")]
    assert joined(room.name, "TABLE") == {"a": 1, "b": 2}
    assert [class_.__name__ for class_ in classes(room.name, int)] == ["First", "Second"]


def test_the_same_key_in_two_files_is_an_error(room: Path) -> None:
    (room / "again.py").write_text("TABLE = {'a': 4}")
    with pytest.raises(ValueError, match=r"one.TABLE gives \{'a'\} again"):
        joined(room.name, "TABLE")
