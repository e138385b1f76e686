"""Hostile TOML files of chips, stacks, loads and sweeps are read, or refused in a sentence.

The long mode judges as many cases as HEXSIM_FUZZ_CASES says, by default 2 000, one of 40 by a
command, too:

    HEXSIM_FUZZ_CASES=100000 python -m pytest -m slow tests/fuzz/test_toml_texts.py
"""

from __future__ import annotations

import contextlib
import os
from pathlib import Path

import pytest

pytest.importorskip("pyarrow", reason="sweeps write Parquet files")

from tests.fuzz.toml_texts import commanded, good, judged, prepare
from tests.fuzz.watch import watched

QUICK = 80
LONG = int(os.environ.get("HEXSIM_FUZZ_CASES", "2000"))


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


@pytest.mark.parametrize("number", range(4))
def test_commands_say_it_and_write_all_or_nothing(number: int, folder: Path) -> None:
    assert commanded(number, folder).isprintable()


@pytest.mark.slow
def test_many_hostile_files_do(folder: Path) -> None:
    for number in range(10_000, 10_000 + LONG):
        assert len(judged(number, folder)) < 2000, number
        if number % 40 == 0:
            assert commanded(number, folder).isprintable(), number
