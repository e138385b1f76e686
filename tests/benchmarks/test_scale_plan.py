"""What many workers take follows from what one takes."""

import pytest

from benchmarks.scale_plan import Cost, in_words, per_core_table, planned_table, taken_s

COST = Cost(
    "point",
    seconds=0.5,
    start_s=3.0,
    parts=lambda things: things // 10,
    shared_bytes=0,
    result_bytes=100.0,
    file_bytes=20.0,
    worker_bytes=10**9,
    keeping_s=0.01,
    joining_s=0.02,
)


@pytest.mark.parametrize(
    ("workers", "expected"),
    [
        (1, 3 + 500 + 2),
        (16, 3 + 7 * 5 + 2),  # 100 parts of 5 s: somebody has seven
        (256, 3 + 5 + 2),  # no less than a part
    ],
)
def test_workers_share_whole_parts(workers: int, expected: float) -> None:
    assert taken_s(COST, 1000, workers, parts_per_s=1e9) == pytest.approx(expected)


def test_who_hands_out_may_be_what_workers_wait_for() -> None:
    assert taken_s(COST, 1000, 256, parts_per_s=10) == pytest.approx(3 + 100 * 0.11 + 2)


def test_the_table_has_a_row_for_each_thing_asked() -> None:
    *_, row = planned_table([(COST, 1_000_000)], parts_per_s=1e9).splitlines()
    cells = [cell.strip() for cell in row.strip("|").split("|")]
    assert cells == ["1 000 000 points", "100000", "5.8 days", "9.2 h", "1.1 h", "20 MB", "256 GB"]


def test_a_core_does_as_many_as_fit_into_a_second() -> None:
    *_, ours, theirs = per_core_table({"ours": 0.005, "theirs": 0.0125}).splitlines()
    assert (ours, theirs) == ("| ours | 5.0 | 200 |", "| theirs | 12.5 | 80 |")


def test_durations_have_their_own_unit() -> None:
    assert [in_words(seconds) for seconds in (5, 90, 5400, 172800)] == [
        "5 s",
        "1.5 min",
        "1.5 h",
        "2.0 days",
    ]
