"""The tables of docs/results/throughput.md and the example of the concept are those of today."""

from __future__ import annotations

import pytest

from benchmarks.throughput_page import CONCEPT, PAGE, concept, page

RENEW = "python -m benchmarks.throughput_page --write"


@pytest.mark.slow
def test_the_example_is_what_the_command_prints() -> None:
    assert CONCEPT.read_text(encoding="utf-8") == concept(), RENEW


@pytest.mark.slow
def test_the_tables_are_up_to_date() -> None:
    assert PAGE.read_text(encoding="utf-8") == page(), RENEW
