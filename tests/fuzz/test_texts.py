"""Damaged texts, lists and pictures end in answers or in one sentence."""

from __future__ import annotations

from pathlib import Path

import pytest

pytest.importorskip("PIL", reason="pictures are read by Pillow")

from tests.fuzz.texts import good, judged
from tests.thorough import cases

QUICK = 200


def _is_one_sentence(said: str) -> bool:
    return "\n" not in said and "Traceback" not in said


def test_good_files_are_read(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Else the mutations would start from files that are refused anyway."""
    monkeypatch.chdir(tmp_path)
    (tmp_path / "good.raw").write_bytes(bytes(768))
    for number, (name, data, read) in enumerate(good()):
        folder = tmp_path / str(number)
        folder.mkdir()
        (folder / name).write_bytes(data)
        read(folder / name)


def test_damaged_files_end_in_answers_or_sentences(tmp_path: Path) -> None:
    said = [judged(number, tmp_path) for number in range(QUICK)]
    assert [sentence for sentence in said if not _is_one_sentence(sentence)] == []
    assert QUICK / 2 < len([sentence for sentence in said if sentence]) < QUICK


@pytest.mark.slow
def test_many_damaged_files_do(tmp_path: Path) -> None:
    for number in cases(3_000):
        assert _is_one_sentence(judged(number, tmp_path)), number
