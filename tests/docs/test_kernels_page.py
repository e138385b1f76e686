"""The comparison table of docs/kernels.md is that of today's streams."""

from __future__ import annotations

from benchmarks.hand_written_kernels import PAGE, page_with, table


def test_the_committed_table_is_up_to_date() -> None:
    assert PAGE.read_text(encoding="utf-8") == page_with(table()), (
        "python -m benchmarks.hand_written_kernels --write"
    )


def test_rows_far_off_state_a_reason() -> None:
    rows = [line.split("|") for line in table().splitlines() if line.startswith("| ")][1:]
    assert len(rows) > 50
    for row in rows:
        assert abs(float(row[6].strip(" %"))) <= 5.05 or row[8].strip()
