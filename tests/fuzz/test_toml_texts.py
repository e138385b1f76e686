"""Hostile TOML files of chips, stacks, loads and sweeps are read, or refused in a sentence."""

from __future__ import annotations

import contextlib
from pathlib import Path

import pytest

pytest.importorskip("pyarrow", reason="sweeps write Parquet files")

from tests.fuzz.toml_texts import good, judged, prepare
from tests.fuzz.watch import watched
from tests.thorough import cases

QUICK = 80


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    prepare(tmp_path)
    return tmp_path


def test_good_files_are_read(folder: Path) -> None:
    """Else the mutations would start from files that are refused anyway."""
    for name, text, read in good():
        (folder / name).write_text(text)
        with contextlib.chdir(folder):
            read(folder / name)


@pytest.mark.slow
def test_hostile_files_end_in_a_sentence(folder: Path) -> None:
    with watched(120):
        said = [judged(number, folder) for number in range(QUICK)]
    assert not [text for text in said if len(text) > 2000 or "<" in text]
    assert QUICK / 2 < len([text for text in said if text]) < QUICK


@pytest.mark.slow
def test_many_hostile_files_do(folder: Path) -> None:
    for number in cases(1_200):
        assert len(judged(number, folder)) < 2000, number
