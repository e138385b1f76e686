"""Interpreters of workers amid hostile variables and modules: the same bytes, and nothing run."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.fuzz.interpreters import COMMANDS, answer, judged, write_files
from tests.thorough import cases


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
    judged(0, tmp_path)


@pytest.mark.slow
def test_many_hostile_starts_change_nothing(tmp_path: Path) -> None:
    for number in cases(12):
        judged(number, tmp_path)
