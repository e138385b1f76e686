"""The tables on time, on constants and of README.md are those of today."""

from __future__ import annotations

import pytest

from benchmarks.timing_model import (
    CONCEPT,
    CONSTANTS,
    README,
    TIMING,
    concept_page,
    constants_page,
    readme_page,
    timing_page,
)
from hexsim.datasheets import chips, stacks

RENEW = "python -m benchmarks.timing_model --write"


def test_the_timing_page_is_up_to_date() -> None:
    assert TIMING.read_text(encoding="utf-8") == timing_page(), RENEW


def test_the_profile_of_the_concept_is_up_to_date() -> None:
    assert CONCEPT.read_text(encoding="utf-8") == concept_page(), RENEW


def test_the_page_of_constants_is_up_to_date() -> None:
    assert CONSTANTS.read_text(encoding="utf-8") == constants_page(), RENEW


def test_the_errors_of_the_readme_are_up_to_date() -> None:
    assert README.read_text(encoding="utf-8") == readme_page(), RENEW


@pytest.mark.parametrize("datasheet", [chips.load("sd855"), stacks.load("qnn-2.45")])
def test_every_constant_is_on_the_page(datasheet: chips.Chip | stacks.Stack) -> None:
    page = CONSTANTS.read_text(encoding="utf-8")
    for path, constant in datasheet.quantities():
        rows = [line for line in page.splitlines() if line.startswith(f"| {path} |")]
        assert any(constant.source in row for row in rows), path
