from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from hexsim.hvx.kernels._blocking import blocks, cut_evenly, parts, row_stage
from hexsim.timing.memory import Traffic
from hexsim.timing.work import WorkItem


def test_seven_rows_on_four_threads_leave_one_with_half_a_share() -> None:
    assert list(parts(7, 4)) == [2, 2, 2, 1]
    assert list(parts(7, 2)) == [4, 3]
    assert list(parts(2, 4)) == [1, 1]


@given(st.integers(1, 300), st.integers(1, 9))
def test_parts_keep_the_total(total: int, count: int) -> None:
    cut = list(parts(total, count))
    assert sum(cut) == total
    assert len(cut) <= count
    assert max(cut) == -(-total // count)


@given(st.integers(0, 10**9), st.lists(st.integers(1, 50), min_size=1, max_size=9))
def test_even_cuts_keep_the_total_and_the_proportions(total: int, weights: list[int]) -> None:
    cut = cut_evenly(total, weights)
    assert sum(cut) == total
    for part, weight in zip(cut, weights, strict=True):
        assert abs(part - total * weight / sum(weights)) <= 1


@given(
    st.integers(1, 200),
    st.integers(1, 4),
    st.integers(0, 10**7),
    st.integers(0, 10**7),
    st.integers(1024, 10**6),
)
def test_a_row_stage_keeps_packets_and_bytes(
    rows: int, threads: int, read: int, write: int, l2_bytes: int
) -> None:
    row = WorkItem(packets=10, stalls=3, scalar_fed=4, l2_bytes=128, vtcm_bytes=64)
    stage = row_stage(rows, row, threads, Traffic(read, write), l2_bytes)
    assert sum(item.packets for item in stage.items) == 10 * rows
    assert sum(item.stalls for item in stage.items) == 3 * rows
    assert sum(item.scalar_fed for item in stage.items) == 4 * rows
    assert sum(item.l2_bytes for item in stage.items) == 128 * rows
    assert sum(item.vtcm_bytes for item in stage.items) == 64 * rows
    assert sum(piece.read_bytes for piece in stage.slices) == read
    assert sum(piece.write_bytes for piece in stage.slices) == write
    assert all(len(piece.items) <= threads for piece in stage.slices)


def test_more_traffic_is_cut_in_more_blocks_up_to_a_limit() -> None:
    assert blocks(56, Traffic(0, 0), 262_144) == [56]
    assert len(blocks(56, Traffic(65_536, 0), 262_144)) == 2
    assert len(blocks(56, Traffic(10**9, 0), 262_144)) == 8
    assert blocks(1, Traffic(10**9, 0), 262_144) == [1]
