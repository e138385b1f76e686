"""Damaged archives and files of two formats are taken for what they are, or refused in a sentence.

The long mode judges as many cases as HEXSIM_FUZZ_CASES says, by default 20 000:

    HEXSIM_FUZZ_CASES=100000 python -m pytest -m slow tests/fuzz/test_archives.py
"""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from hexsim.frameworks.torch_archives import require_no_code
from tests.fuzz.archives import good, judged
from tests.fuzz.watch import watched

QUICK = 800
LONG = int(os.environ.get("HEXSIM_FUZZ_CASES", "20000"))


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
    for number in range(10_000, 10_000 + LONG):
        with watched():
            assert judged(number, tmp_path).isprintable(), number
