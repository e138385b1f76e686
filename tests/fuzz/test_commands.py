"""Damaged files of every kind, by the commands that read them: an answer, or one sentence."""

from __future__ import annotations

import random
from pathlib import Path

import pytest

pytest.importorskip("pyarrow", reason="sweeps write Parquet files")

from tests.fuzz.commands import Outcomes, ended
from tests.fuzz.process import Judged, judged
from tests.fuzz.readers import READERS, Case, Reader, case, lines_of
from tests.thorough import THOROUGH, cases


def test_a_case_is_told_by_its_number() -> None:
    assert case(7) == case(7)
    assert len({case(number).reader.name for number in range(1000)}) == len(READERS)


@pytest.mark.slow
@pytest.mark.parametrize("reader", READERS, ids=lambda reader: reader.name)
def test_good_files_are_answered(reader: Reader, tmp_path: Path) -> None:
    """Else the damage would start from files, or lines, that are refused anyway."""
    for file in reader.files:
        for lines in lines_of(reader, file)[:: 1 if THOROUGH else 6]:
            assert ended(Case(0, reader, file, lines), tmp_path, damaged=False) == "", lines


@pytest.mark.slow
@pytest.mark.parametrize("reader", READERS[1:], ids=lambda reader: reader.name)
def test_damage_changes_the_file(reader: Reader, tmp_path: Path) -> None:
    from tests.fuzz.commands import workspace

    for file in reader.files:
        good = (workspace() / file).read_bytes()
        damaged = set()
        for seed in range(10):
            (tmp_path / Path(file).name).write_bytes(good)
            reader.damage(random.Random(seed), tmp_path / Path(file).name)
            damaged.add((tmp_path / Path(file).name).read_bytes())
        assert len(damaged - {good}) > 4, file


@pytest.mark.slow
def test_damaged_files_end_in_an_answer_or_a_sentence() -> None:
    numbers, outcomes = cases(1800), Outcomes()
    verdicts = list(judged("commands", numbers.start, len(numbers)))
    for verdict in verdicts:
        outcomes.add(verdict)
    assert not [f"{each.number}: {each.fault[-3000:]}" for each in verdicts if each.fault]
    assert len(verdicts) == len(numbers)
    assert not outcomes.unreached()


@pytest.mark.parametrize(
    ("sentences", "reached"),
    [
        (["", "a", "b", "c"], True),
        (["a", "b", "c", "d"], False),
        (["", "", "", ""], False),
        (["", "cannot read 'x'", "cannot read 'y'", "cannot read 'z'"], False),
    ],
)
def test_files_that_do_not_reach_their_reader_are_told(sentences: list[str], reached: bool) -> None:
    outcomes = Outcomes()
    for number in range(16):
        outcomes.add(Judged(number, f"chip | chip.toml | info | {sentences[number % 4]}"))
    assert (outcomes.unreached() == []) == reached
