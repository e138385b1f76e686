"""Costs by shape class."""

import pytest

from hexsim.hvx.isa import Machine
from hexsim.hvx.streams import costs

V60, V65, V66 = Machine(60), Machine(65), Machine(66)


def test_a_batch_is_done_two_at_a_time():
    one, two = (costs.fully_connected_outputs(V60, 1024, n) for n in (1, 2))
    five = costs.fully_connected_outputs(V60, 1024, 5)
    assert five.tile == 2 * two.tile + one.tile
    assert five.macs == 5 * one.macs
    assert two.tile < 2 * one.tile


@pytest.mark.parametrize("kernel", [(3, 3), (5, 5), (2, 2), (7, 7)])
@pytest.mark.parametrize("strides", [(1, 1), (2, 2), (3, 3)])
def test_every_pooling_has_a_kernel(kernel, strides):
    for pool in (costs.max_pool, costs.average_pool):
        cost = pool(V66, kernel, strides)
        assert cost.tile > 0
        assert cost.pixels in (4, 8)


def test_depthwise_kernels_by_width_and_stride():
    assert costs.depthwise_rows(V66, (3, 3), 1).tile == 26
    assert costs.depthwise_rows(V66, (5, 5), 2) is not None
    assert costs.depthwise_rows(V66, (4, 4), 1) is None
    assert costs.depthwise_rows(V66, (3, 3), 3) is None


def test_weights_move_from_l2_to_vtcm():
    cost = costs.weights_to_vtcm(V66)
    assert (cost.l2_vectors, cost.vtcm_vectors) == (1, 1)


def test_six_pixels_cost_less_than_eight():
    eight = costs.conv_v65(V65, 3, 12)
    six = costs.conv_v65(V65, 3, 12, pixels=6)
    assert six.tile < eight.tile
    assert (six.pixels, six.channels) == (6, 64)
