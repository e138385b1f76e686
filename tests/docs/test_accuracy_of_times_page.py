"""The tables of docs/results/accuracy-of-times.md are those of today."""

from __future__ import annotations

import pytest

from benchmarks.accuracy_of_times import PAGE, layers, networks, of_page, page
from benchmarks.pages import block

RENEW = "python -m benchmarks.accuracy_of_times --write"


def test_what_other_files_have_is_up_to_date() -> None:
    text = PAGE.read_text(encoding="utf-8")
    assert block(text, "networks") == networks() + "\n", RENEW
    assert block(text, "layers") == layers() + "\n", RENEW
    assert block(text, "htp") == of_page("htp.md", "scoreboard"), RENEW
    assert block(text, "htp chips") == of_page("htp.md", "chips"), RENEW
    assert block(text, "llm") == of_page("llm.md", "scoreboard"), RENEW


@pytest.mark.slow
def test_the_tables_are_up_to_date() -> None:
    assert PAGE.read_text(encoding="utf-8") == page(), RENEW
