"""Every reader of a file from outside bounds bytes, rows and depth before its work begins."""

from __future__ import annotations

from pathlib import Path

import pytest

pytest.importorskip("pyarrow", reason="sweeps write Parquet files")

from tests.fuzz.bombs import WAYS, cases
from tests.fuzz.process import judged
from tests.fuzz.readers import OPTIONS, READERS
from tests.thorough import THOROUGH

_PARTS = 4
"""Neighbouring cases share a process, and parts run beside each other."""


def test_every_format_of_every_reader_grows() -> None:
    formats = {(reader.name, Path(file).suffix) for reader in READERS for file in reader.files}
    grown = {(reader.name, Path(file).suffix) for reader, file, _ in cases()}
    assert grown == {item for item in formats if item[0] != OPTIONS.name}
    assert {suffix for _, suffix in grown} <= {*WAYS}


@pytest.mark.slow
@pytest.mark.parametrize("part", range(_PARTS))
def test_files_that_are_too_large_end_in_an_answer_or_a_sentence(part: int) -> None:
    """With the full budget, as a user has it; time and memory are those of any case."""
    first, end = (len(cases()) * edge // _PARTS for edge in (part, part + 1))
    count = end - first if THOROUGH else 8
    verdicts = list(judged("bombs", first, count, budget=1.0))
    assert not [f"{each.number}: {each.fault[-2000:]}" for each in verdicts if each.fault]
    assert len(verdicts) == count
