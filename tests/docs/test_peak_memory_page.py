"""The tables of docs/concepts/peak-memory.md are those of today."""

from __future__ import annotations

import pytest

from benchmarks.footprints import PAGE, page


@pytest.mark.slow
def test_the_tables_are_up_to_date() -> None:
    renew = "python -m benchmarks.footprints --write"
    assert PAGE.read_text(encoding="utf-8") == page(), renew
