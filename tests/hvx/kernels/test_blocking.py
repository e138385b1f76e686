"""Loops that wait for their operands."""

from __future__ import annotations

from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from hexsim.datasheets import chips, stacks
from hexsim.hvx.kernels import Target, node_work
from hexsim.hvx.kernels._blocking import (
    blocks,
    cut_evenly,
    missing_bytes,
    parts,
    row_stage,
    waiting_for_l2,
    without_prefetch,
)
from hexsim.layers import Elementwise, Neuron
from hexsim.timing.memory import Traffic
from hexsim.timing.work import Slice, Stage, WorkItem
from tests.small_networks import Sketch, only_call

TARGET = Target.of(chips.load("sd865"), stacks.load("snpe-1.63"))


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
    target = replace(TARGET, l2_bytes=l2_bytes)
    stage = row_stage(rows, row, threads, Traffic(read, write), target)
    assert sum(item.packets for item in stage.items) == 10 * rows
    assert sum(item.stalls for item in stage.items) == 3 * rows
    assert sum(item.scalar_fed for item in stage.items) == 4 * rows
    assert sum(item.l2_bytes for item in stage.items) == 128 * rows
    assert sum(item.vtcm_bytes for item in stage.items) == 64 * rows
    assert sum(piece.read_bytes for piece in stage.slices) == read
    assert sum(piece.write_bytes for piece in stage.slices) == write
    assert all(len(piece.items) <= threads for piece in stage.slices)
    alone = row_stage(rows, row, threads, Traffic(), replace(target, workers=1))
    assert len(list(alone.items)) == 1


def test_more_traffic_is_cut_in_more_blocks_up_to_a_limit() -> None:
    assert blocks(56, Traffic(0, 0), 262_144) == [56]
    assert len(blocks(56, Traffic(65_536, 0), 262_144)) == 2
    assert len(blocks(56, Traffic(10**9, 0), 262_144)) == 8
    assert blocks(1, Traffic(10**9, 0), 262_144) == [1]


STAGE = Stage((Slice((WorkItem(10, l2_bytes=3 * 128), WorkItem(30, l2_bytes=9 * 128)), 256),), 2)


def test_a_sum_waits_for_two_of_three_vectors() -> None:
    items = waiting_for_l2(STAGE, 2, 6.0).items
    assert [item.stalls for item in items] == [2 * 6, 6 * 6]
    assert waiting_for_l2(STAGE, 2, 0.0) is STAGE


@pytest.mark.parametrize(("workers", "threads"), [(1, 1), (2, 2), (4, 2)])
def test_without_prefetch_workers_load_what_is_missing(workers: int, threads: int) -> None:
    stage = without_prefetch(STAGE, 4096, workers)
    assert stage.threads == threads
    assert [piece.read_bytes for piece in stage.slices] == [0]
    assert [item.missing_bytes for item in stage.items] == [1024, 3072]


@pytest.mark.parametrize(
    ("l2_lines", "missing_lines"), [(300, 0), (250, 100), (200, 200), (0, 200)]
)
def test_results_evict_the_operands_that_come_next(l2_lines: int, missing_lines: int) -> None:
    """Two operands of 100 lines each: with room for half of the result, half of them miss."""
    shape = (1, 10, 40, 32)
    assert missing_bytes([shape, shape], shape, 0, l2_lines * 128) == missing_lines * 128


def test_a_product_of_two_tensors_has_no_prefetch_and_one_by_a_constant_has() -> None:
    net = Sketch((1, 160, 160, 32))
    product = only_call(net, net.add(Elementwise, "in", "in", kind="product"))
    stage = node_work(product, TARGET, Traffic()).stages[0]
    assert stage.threads == 1
    assert sum(item.missing_bytes for item in stage.items) == 2 * 160 * 160 * 32
    new = replace(TARGET, prefetches_products=True)
    assert not any(item.missing_bytes for item in node_work(product, new, Traffic()).items)
    added = only_call(net, net.add(Elementwise, "in", "in", kind="sum"))
    assert not any(item.missing_bytes for item in node_work(added, TARGET, Traffic()).items)


def test_slices_of_a_product_follow_one_another_where_the_release_joins_them() -> None:
    """Each slice after the first takes hand-overs to the workers of its rows, and a wake-up."""
    net = Sketch((1, 2, 3, 1152))
    gate = net.add(Elementwise, "in", "in", kind="product")
    product = only_call(net, gate)
    joined = Target.of(chips.load("sd865"), stacks.load("qnn-2.45"))
    each = 2 * joined.hand_off_packets + joined.wake_packets
    assert node_work(product, joined, Traffic()).main_packets == 35 * each > 0
    assert node_work(product, TARGET, Traffic()).main_packets == 0
    added = only_call(net, net.add(Elementwise, "in", "in", kind="sum"))
    assert node_work(added, joined, Traffic()).main_packets == 0


@pytest.mark.parametrize(("channels", "workers"), [(32, 1), (64, 2), (96, 3), (128, 2), (256, 3)])
def test_a_table_is_shared_by_sheets(channels: int, workers: int) -> None:
    """Four slices for three workers take as long as for two."""
    net = Sketch((1, 8, 8, channels))
    sigmoid = only_call(net, net.add(Neuron, "in", function="sigmoid"))
    assert node_work(sigmoid, TARGET, Traffic()).stages[0].threads == workers
