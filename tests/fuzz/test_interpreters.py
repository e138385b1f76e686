"""Interpreters of workers amid hostile variables and modules: the same bytes, and nothing run.

The long mode judges as many cases as HEXSIM_FUZZ_CASES says, by default 12:

    HEXSIM_FUZZ_CASES=1000 python -m pytest -m slow tests/fuzz/test_interpreters.py
"""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from tests.fuzz.interpreters import COMMANDS, answer, judged, write_files

LONG = int(os.environ.get("HEXSIM_FUZZ_CASES", "12"))


@pytest.mark.slow
def test_the_commands_answer(tmp_path: Path) -> None:
    """Else the cases would compare nothing with nothing."""
    write_files(tmp_path)
    for line in COMMANDS:
        code, err, file = answer(tmp_path, line, {})
        assert (code, err) == (0, "")
        assert file.startswith(b"{")
        (tmp_path / "answer.json").unlink()


@pytest.mark.slow
def test_a_hostile_start_changes_nothing(tmp_path: Path) -> None:
    assert judged(0, tmp_path) == []


@pytest.mark.slow
def test_many_hostile_starts_change_nothing(tmp_path: Path) -> None:
    for number in range(10_000, 10_000 + LONG):
        assert judged(number, tmp_path) == [], number
