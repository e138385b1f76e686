"""The tables of docs/throughput.md are those of today."""

from __future__ import annotations

import pytest

from benchmarks.pages import with_block
from benchmarks.throughput_page import PAGE, example, page

RENEW = "python -m benchmarks.throughput_page --write"


def test_the_example_is_what_the_command_prints() -> None:
    text = PAGE.read_text(encoding="utf-8")
    assert text == with_block(text, "example", example()), RENEW


@pytest.mark.slow
def test_the_tables_are_up_to_date() -> None:
    assert PAGE.read_text(encoding="utf-8") == page(), RENEW
