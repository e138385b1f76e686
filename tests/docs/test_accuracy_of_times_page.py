"""The tables of docs/results/accuracy-of-times.md are those of today."""

from __future__ import annotations

import pytest

from benchmarks.accuracy_of_times import PAGE, page, page_with_copies
from benchmarks.accuracy_of_times import expected_errors as errors_of_today
from hexsim.datasheets.measurements import EXPECTED_ERRORS

RENEW = "python -m benchmarks.accuracy_of_times"


def test_what_other_files_have_is_up_to_date() -> None:
    assert PAGE.read_text(encoding="utf-8") == page_with_copies(), f"{RENEW} --copied"


def test_the_expected_errors_are_those_of_the_pages() -> None:
    text = EXPECTED_ERRORS.read_text(encoding="utf-8")
    assert text == errors_of_today(), f"{RENEW} --copied"


@pytest.mark.slow
def test_the_tables_are_up_to_date() -> None:
    assert PAGE.read_text(encoding="utf-8") == page(), f"{RENEW} FOLDER --write"
