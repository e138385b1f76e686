"""The tables of docs/concepts/peak-memory.md are those of today."""

from __future__ import annotations

from benchmarks.footprints import PAGE, page


def test_the_tables_are_up_to_date() -> None:
    renew = "python -m benchmarks.footprints --write"
    assert PAGE.read_text(encoding="utf-8") == page(), renew
