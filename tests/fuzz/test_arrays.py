"""Hostile .npy files are read right or refused in a sentence, and no pickle of theirs is loaded."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from tests.fuzz.arrays import MARK, judged, means, right, saved
from tests.fuzz.watch import watched
from tests.thorough import cases

QUICK = 300


@pytest.mark.parametrize("number", range(8))
def test_any_order_and_byte_order_gives_the_same_numbers(number: int, tmp_path: Path) -> None:
    expected = np.arange(90, dtype=np.float32).reshape(3, 5, 6).transpose(1, 2, 0)
    read = means(saved(right(number)), tmp_path)
    assert np.array_equal(read, expected)


def test_hostile_files_end_in_a_sentence(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    with watched(60):
        said = [judged(number, tmp_path) for number in range(QUICK)]
    assert not [text for text in said if not text.isprintable()]
    assert [text for text in said if text]
    assert not (tmp_path / MARK).exists()
    assert [path.name for path in tmp_path.iterdir()] == ["mean.npy"]


@pytest.mark.slow
def test_many_hostile_files_do(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    for number in cases(1_500):
        with watched():
            assert judged(number, tmp_path).isprintable(), number
    assert not (tmp_path / MARK).exists()
