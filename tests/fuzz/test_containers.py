"""Forged .dlc files end in answers or in one sentence, whatever is wrong in them."""

from __future__ import annotations

from pathlib import Path

import pytest

from hexsim.dlc.archive import open_archive
from tests.fuzz import containers
from tests.fuzz.containers import forged, good, judge, judged, sealed
from tests.thorough import cases

QUICK = 60
SHARE = 10
"""Of how many good files the quick tests take one."""
SHARDS = 4
"""Parts of the long run, which processes share."""


def _is_one_sentence(said: str) -> bool:
    """Nothing of a traceback, no line break inside, and not endless."""
    return all(line.strip() and len(line) < 2000 for line in said.split("\n")) or not said


def test_good_files_give_answers(tmp_path: Path) -> None:
    """Else the mutations would start from files that are refused anyway."""
    for name, parts in good()[::SHARE]:
        sealed(parts, tmp_path / "m.dlc")
        open_archive(tmp_path / "m.dlc")
        assert "no model" not in judge(tmp_path / "m.dlc"), name


def test_a_case_is_reported_by_its_number() -> None:
    assert forged(7) == forged(7)
    assert len({forged(number)[0] for number in range(100)}) > 20


def test_forged_files_end_in_answers_or_sentences(tmp_path: Path) -> None:
    said = [judged(number, tmp_path) for number in range(QUICK)]
    assert all(map(_is_one_sentence, said))
    refused = sum(containers.REFUSED in sentence for sentence in said)
    assert QUICK / 3 < refused < QUICK


@pytest.mark.slow
@pytest.mark.parametrize("shard", range(SHARDS))
def test_many_forged_files_do(shard: int, tmp_path: Path) -> None:
    for number in cases(1_600)[shard::SHARDS]:
        assert _is_one_sentence(judged(number, tmp_path)), number
