"""Paths of a list lead to where Data has the files, unless they are here."""

from pathlib import Path

import pytest

from hexsim.snpe.bench.config import as_found, place


def test_where_files_are(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    for name in ("here.raw", "far/cropped/sub/a.raw", "far/b.raw"):
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).touch()
    data = [Path("other"), Path("far/cropped"), Path("far/b.raw")]
    assert place(Path("here.raw"), data) == Path("here.raw")
    assert place(Path("cropped/sub/a.raw"), data) == Path("far/cropped/sub/a.raw")
    assert place(Path("b.raw"), data) == Path("far/b.raw")
    assert place(Path("cropped/none.raw"), data) == Path("cropped/none.raw")
    text = "#prob\n\nx:=b.raw  y:=here.raw\n"
    assert as_found(text, data) == "#prob\nx:=far/b.raw y:=here.raw\n"
    assert as_found(text, ()) == "#prob\nx:=b.raw y:=here.raw\n"
