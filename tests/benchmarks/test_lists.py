"""Rounds count by where the cores were, and new rows replace old ones."""

from benchmarks.lists import HEAD, Round, merged, row
from benchmarks.two_threads import FAR_NS, NEAR_NS


def test_rounds_are_near_or_far_or_do_not_count() -> None:
    near, far = NEAR_NS - 50, FAR_NS + 100
    seconds = {"one": 0.3, "rows": 0.2, "list": 0.15}
    rounds = [Round(near, near, seconds), Round(near, far, seconds)]
    line = row("values", "net", 10, rounds)
    assert line == (
        "| net | values | 30 | 1.50 **1.50** 1.50 (1) | 2.00 **2.00** 2.00 (1) | - | - |"
    )


def test_a_table_grows_run_by_run() -> None:
    first, two, again = "| a | values | 1 |", "| a | validation | 2 |", "| a | values | 3 |"
    table = merged("", [first])
    assert table == f"{HEAD}\n{first}"
    assert merged(merged(table, [two]), [again]) == f"{HEAD}\n{again}\n{two}"
