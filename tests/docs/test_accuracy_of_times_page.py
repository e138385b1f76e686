"""The tables of docs/results/accuracy-of-times.md are those of today."""

from __future__ import annotations

import pytest

from benchmarks.accuracy_of_times import PAGE, page, page_with_copies

RENEW = "python -m benchmarks.accuracy_of_times"


def test_what_other_files_have_is_up_to_date() -> None:
    assert PAGE.read_text(encoding="utf-8") == page_with_copies(), f"{RENEW} --copied"


@pytest.mark.slow
def test_the_tables_are_up_to_date() -> None:
    assert PAGE.read_text(encoding="utf-8") == page(), f"{RENEW} --write"
