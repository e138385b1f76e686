from __future__ import annotations

import pytest

from hexsim.hvx.isa import Machine
from hexsim.hvx.kernels import Target, activation_l2_bytes
from tests.small_networks import Sketch, only_call

KB = 1024
V62 = Target(Machine(62), 2, 256 * KB, 0)
V66 = Target(Machine(66), 4, 1024 * KB, 256 * KB)


def weights(target: Target, channels: int, outputs: int, kernel: int = 1, groups: int = 1) -> int:
    """Bytes that the weights of a convolution take from the activations."""
    net = Sketch((1, 14, 14, channels))
    call = only_call(net, net.conv("in", outputs, kernel, groups=groups))
    return target.l2_bytes - activation_l2_bytes(call, target)


def test_before_v65_a_group_stays_beside_the_next_slice() -> None:
    assert weights(V62, 512, 512) == (7 + 1) * 32 * (512 + 4)


def test_few_weights_take_no_more_than_they_are() -> None:
    assert weights(V62, 32, 32) == 32 * (32 + 4)
    assert weights(V66, 32, 32) == 32 * (32 + 4)


def test_with_vtcm_only_the_next_group_is_in_l2() -> None:
    """A slice of 16.5 KB: 15 fit in VTCM, an even number of them is a group."""
    assert weights(V66, 512, 1024) == 14 * 32 * (512 + 4)


def test_one_group_of_a_grouped_convolution_at_a_time() -> None:
    assert weights(V62, 64, 64, kernel=3, groups=2) == weights(V62, 32, 32, kernel=3)


def test_depthwise_weights_are_few() -> None:
    assert weights(V62, 512, 512, kernel=3, groups=512) == 9 * 512


@pytest.mark.parametrize("target", [V62, V66])
def test_what_wants_all_of_l2_leaves_a_prefetch_of_rows(target: Target) -> None:
    net = Sketch((1, 4096))
    assert activation_l2_bytes(only_call(net, net.dense("in", 4096)), target) * 8 == target.l2_bytes
    assert weights(V62, 1024, 512, kernel=3) == V62.l2_bytes * 7 // 8


def test_layers_without_weights_leave_all() -> None:
    net = Sketch((1, 14, 14, 64))
    assert activation_l2_bytes(only_call(net, net.pool("in")), V62) == V62.l2_bytes
