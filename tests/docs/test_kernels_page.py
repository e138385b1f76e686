"""The table of docs/results/kernels.md and the loop of docs/concepts/kernels.md are today's."""

from __future__ import annotations

from benchmarks.hand_written_kernels import CONCEPT, PAGE, concept_with, loop, page_with, table

RENEW = "python -m benchmarks.hand_written_kernels --write"


def test_the_committed_table_is_up_to_date() -> None:
    assert PAGE.read_text(encoding="utf-8") == page_with(table()), RENEW


def test_the_loop_shown_is_what_the_command_prints() -> None:
    assert CONCEPT.read_text(encoding="utf-8") == concept_with(loop()), RENEW


def test_rows_far_off_state_a_reason() -> None:
    rows = [line.split("|") for line in table().splitlines() if line.startswith("| ")][1:]
    assert len(rows) > 50
    for row in rows:
        assert abs(float(row[6].strip(" %"))) <= 5.05 or row[8].strip()
