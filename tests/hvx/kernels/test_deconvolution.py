"""Deconvolutions in time: the convolution of all phases, then their pixels in turn."""

import pytest

from hexsim.hvx.isa import HvxMachine
from hexsim.hvx.kernels import Target, activation_l2_bytes, kernel_streams, node_work
from hexsim.hvx.streams import listed
from hexsim.hvx.streams.movement import weave_pixels
from hexsim.timing.memory import Traffic
from tests.small_networks import Sketch, only_call

V66 = HvxMachine(66)
TARGET = Target(V66, 4, 1 << 20, 1 << 18)


@pytest.mark.parametrize("channels", [64, 20])
def test_it_costs_its_convolution_and_its_weaving(channels: int) -> None:
    net = Sketch((1, 16, 16, 64))
    work = node_work(only_call(net, net.deconv("in", channels)), TARGET, Traffic(10, 20))
    slices = -(-channels // 32)
    plain = node_work(only_call(net, net.conv("in", 4 * 32 * slices)), TARGET, Traffic(10))
    cost = weave_pixels(V66, 2).cost
    assert work.stages[0] == plain.stages[0]
    woven = sum(item.packets + item.stalls for item in work.stages[1].items)
    assert woven == 32 * slices * (cost.tile * 4 + cost.row)
    assert (work.nodes, work.cost_model, work.write_bytes) == (2, "kernel", 20)


def test_a_stride_of_one_is_a_convolution() -> None:
    net = Sketch((1, 16, 16, 64))
    call = only_call(net, net.deconv("in", 64, kernel=3, stride=1))
    work = node_work(call, TARGET, Traffic())
    assert (len(work.stages), work.nodes) == (1, 1)


def test_steps_above_four_are_a_convolution_and_a_stand_in_for_weaving() -> None:
    net = Sketch((1, 4, 4, 8))
    call = only_call(net, net.deconv("in", 4, kernel=5, stride=5))
    work = node_work(call, TARGET, Traffic(10, 20))
    plain = node_work(only_call(net, net.conv("in", 25 * 32)), TARGET, Traffic(10))
    cost = listed("table", V66).cost
    assert work.stages[0] == plain.stages[0]
    woven = sum(item.packets + item.stalls for item in work.stages[1].items)
    assert woven == 20 * (cost.tile * 5 + cost.row)
    assert (work.nodes, work.cost_model, work.write_bytes) == (2, "generic", 20)


def test_groups_are_slices_convolutions_a_concat_and_the_weaving() -> None:
    net = Sketch((1, 8, 8, 32))
    call = only_call(net, net.deconv("in", 16, groups=2))
    work = node_work(call, TARGET, Traffic())
    assert (work.nodes, work.cost_model) == (2 * 2 + 1 + 1, "generic")
    assert listed("copy", V66) in kernel_streams(call, TARGET)


def test_its_weights_take_room_in_l2_as_those_of_the_convolution() -> None:
    net = Sketch((1, 16, 16, 256))
    of_deconv = activation_l2_bytes(only_call(net, net.deconv("in", 64)), TARGET)
    of_conv = activation_l2_bytes(only_call(net, net.conv("in", 256)), TARGET)
    assert of_deconv == of_conv < TARGET.l2_bytes


@pytest.mark.parametrize(("images", "packets"), [(2, 2), (4, 4)])
def test_shuffles_and_stores_bound_the_weaving(images: int, packets: int) -> None:
    kernel = weave_pixels(V66, images)
    assert kernel.cost.tile == packets
    assert kernel.cost.l2_vectors == 2 * images
    assert weave_pixels(V66, 3).cost.tile > packets
