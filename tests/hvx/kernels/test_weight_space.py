from __future__ import annotations

import pytest

from hexsim.graph.ir import Shape
from hexsim.hvx.isa import HvxMachine
from hexsim.hvx.kernels import Target, activation_l2_bytes, memory_of
from hexsim.planning.plan import KernelCall
from tests.small_networks import Sketch, only_call

KB = 1024
V62 = Target(HvxMachine(62), 2, 256 * KB, 0)
V66 = Target(HvxMachine(66), 4, 1024 * KB, 256 * KB)


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
    """The 32 * 512 weights of a slice fit sixteen times in VTCM; biases are elsewhere."""
    assert weights(V66, 512, 1024) == 16 * 32 * (512 + 4)


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


def conv(shape: Shape, outputs: int, kernel: int = 1, groups: int = 1) -> KernelCall:
    net = Sketch(shape)
    return only_call(net, net.conv("in", outputs, kernel, groups=groups))


def test_packed_weights_have_whole_sheets_and_a_bias_for_each_output() -> None:
    assert memory_of(conv((1, 8, 8, 33), 40, 3), V62).packed_bytes == 2 * 32 * (9 * 64 + 4)
    assert memory_of(conv((1, 8, 8, 64), 64, 3, groups=2), V62).packed_bytes == 2 * 32 * (
        9 * 32 + 4
    )


def test_the_first_layer_packs_four_channels() -> None:
    """And keeps to that on V66, where it runs a kernel of before."""
    for target in (V62, V66):
        assert memory_of(conv((1, 8, 8, 3), 32, 3), target).packed_bytes == 32 * (9 * 4 + 4)


def test_v66_takes_a_power_of_two_for_the_weights() -> None:
    assert memory_of(conv((1, 8, 8, 96), 96), V66).packed_bytes == 16384 + 96 * 4
    assert memory_of(conv((1, 8, 8, 64), 64), V66).packed_bytes == 64 * 64 + 64 * 4


def test_depthwise_filters_have_whole_groups_of_four_taps() -> None:
    assert memory_of(conv((1, 8, 8, 40), 40, 3, groups=40), V66).packed_bytes == 3 * 4 * 64
    assert memory_of(conv((1, 8, 8, 40), 80, 5, groups=40), V66).packed_bytes == 5 * 8 * 2 * 64


def test_a_deconvolution_packs_all_phases() -> None:
    net = Sketch((1, 8, 8, 32))
    call = only_call(net, net.deconv("in", 16, kernel=2, stride=2))
    assert memory_of(call, V62).packed_bytes == 4 * 32 * (32 + 4)


def test_layers_without_weights_pack_nothing() -> None:
    net = Sketch((1, 14, 14, 64))
    call = only_call(net, net.pool("in"))
    assert (memory_of(call, V66).packed_bytes, memory_of(call, V66).vtcm_bytes) == (0, 0)


def test_vtcm_holds_a_ring_of_slices_or_all_if_they_fit() -> None:
    assert memory_of(conv((1, 14, 14, 512), 1024), V66).vtcm_bytes == 16 * 32 * 512
    assert memory_of(conv((1, 14, 14, 544), 1024), V66).vtcm_bytes == 15 * 32 * 544
    assert memory_of(conv((1, 14, 14, 32), 32), V66).vtcm_bytes == 32 * 32
    assert memory_of(conv((1, 14, 14, 32), 32), V62).vtcm_bytes == 0
