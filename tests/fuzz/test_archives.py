"""Damaged archives and files of two formats are told for what they are, or refused in words."""

from __future__ import annotations

from pathlib import Path

import pytest

from hexsim.frameworks.pytorch import require_no_code
from tests.fuzz.archives import good, judged
from tests.fuzz.watch import watched
from tests.thorough import cases

QUICK = 800


def test_good_archives_are_read(tmp_path: Path) -> None:
    """Else the mutations would start from files that are refused anyway."""
    for data in good():
        (tmp_path / "m.pt2").write_bytes(data)
        require_no_code(tmp_path / "m.pt2")


def test_damaged_archives_end_in_a_sentence(tmp_path: Path) -> None:
    with watched(60):
        said = [judged(number, tmp_path) for number in range(QUICK)]
    assert not [sentence for sentence in said if not sentence.isprintable()]
    answers = [
        sentence for sentence in said if sentence.count(" | ") == 0
    ]  # a seal is what none of them has
    assert QUICK / 4 < len(answers) < QUICK / 2, len(answers)


@pytest.mark.slow
def test_many_damaged_archives_do(tmp_path: Path) -> None:
    for number in cases(4_000):
        with watched():
            assert judged(number, tmp_path).isprintable(), number
