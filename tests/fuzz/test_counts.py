"""Networks of odd counts are computed as onnxruntime does, or refused in a sentence."""

from __future__ import annotations

import itertools
from pathlib import Path

import pytest

from tests.fuzz.containers import judge, sealed
from tests.fuzz.counts import emptied, judged
from tests.fuzz.watch import watched
from tests.thorough import cases

QUICK = 6
STRIDE = 1709
"""Of how many emptied files the quick test takes one."""


def test_graphs_of_odd_counts_are_right_or_refused(tmp_path: Path) -> None:
    said = [judged(number, tmp_path) for number in range(QUICK)]
    assert not [text for text in said if not text.isprintable()]
    assert [text for text in said if text.startswith(" || ")], "answers"
    assert [text for text in said if "without nodes" in text or "any input" in text]


def test_emptied_files_are_read_or_refused(tmp_path: Path) -> None:
    for case in itertools.islice(emptied(), 0, None, STRIDE):
        sealed(case.made(), tmp_path / "m.dlc")
        with watched(120):
            assert "Traceback" not in judge(tmp_path / "m.dlc"), case


@pytest.mark.slow
def test_many_graphs_of_odd_counts_are(tmp_path: Path) -> None:
    for number in cases(60):
        assert judged(number, tmp_path).isprintable(), number


@pytest.mark.slow
@pytest.mark.parametrize("first", range(2))
def test_more_emptied_files_are(first: int, tmp_path: Path) -> None:
    for case in itertools.islice(emptied(), first * 50, None, 100):
        sealed(case.made(), tmp_path / "m.dlc")
        with watched(120):
            assert "Traceback" not in judge(tmp_path / "m.dlc"), case
