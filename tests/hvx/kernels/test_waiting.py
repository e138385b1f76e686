"""Loops that wait for their operands."""

from __future__ import annotations

from dataclasses import replace

import pytest

from hexsim.datasheets import chips, stacks
from hexsim.hvx.kernels import Target, node_work
from hexsim.hvx.kernels._waiting import missing_bytes, waiting_for_l2, without_prefetch
from hexsim.layers import Elementwise, Neuron
from hexsim.timing.memory import Traffic
from hexsim.timing.work import Slice, Stage, WorkItem
from tests.small_networks import Sketch, only_call

TARGET = Target.of(chips.load("sd865"), stacks.load("snpe-1.63"))
STAGE = Stage((Slice((WorkItem(10, l2_bytes=3 * 128), WorkItem(30, l2_bytes=9 * 128)), 256),), 2)


def test_a_sum_waits_for_two_of_three_vectors() -> None:
    items = waiting_for_l2(STAGE, 2, 6.0).items
    assert [item.stalls for item in items] == [2 * 6, 6 * 6]
    assert waiting_for_l2(STAGE, 2, 0.0) is STAGE


def test_without_prefetch_one_worker_loads_what_is_missing() -> None:
    stage = without_prefetch(STAGE, 4096)
    assert stage.threads == 1
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


@pytest.mark.parametrize(("channels", "workers"), [(32, 1), (64, 2), (96, 3), (128, 2), (256, 3)])
def test_a_table_is_shared_by_sheets(channels: int, workers: int) -> None:
    """Four slices for three workers take as long as for two."""
    net = Sketch((1, 8, 8, channels))
    sigmoid = only_call(net, net.add(Neuron, "in", function="sigmoid"))
    assert node_work(sigmoid, TARGET, Traffic()).stages[0].threads == workers
