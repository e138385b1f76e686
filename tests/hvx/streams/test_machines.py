"""Changed machines: the same streams, rescheduled; counts move as the resources say."""

import pytest

from hexsim.hvx.isa import HvxMachine
from hexsim.hvx.streams import convolution, listed

V60, V66 = HvxMachine(60), HvxMachine(66)


def test_one_multiply_pipe_halves_the_rate_of_a_convolution():
    narrow = HvxMachine(60, multiply_pipes=1)
    fast, slow = convolution.v60(V60, 3, 12), convolution.v60(narrow, 3, 12)
    assert slow.tile[0].code.interval == 2 * fast.tile[0].code.interval
    assert slow.cost.macs == fast.cost.macs


def test_one_multiply_pipe_doubles_what_is_bound_by_multiplies_only():
    assert listed("requantize", HvxMachine(66, multiply_pipes=1)).cost.tile == 16
    assert listed("copy", HvxMachine(66, multiply_pipes=1)).cost.tile == 1


def test_one_multiply_pipe_halves_the_rate_of_every_convolution_form():
    narrow = {"multiply_pipes": 1}
    for make, version in ((convolution.v65, 65), (convolution.v66, 66)):
        fast, slow = make(HvxMachine(version), 3, 12), make(HvxMachine(version, **narrow), 3, 12)
        assert 1.7 <= slow.cost.tile / fast.cost.tile <= 2.1


def test_two_permute_pipes_help_what_permutes():
    wide = HvxMachine(66, permute_pipes=2)
    assert listed("global_average", V66).cost.tile == 2
    assert listed("global_average", wide).cost.tile == 1
    assert listed("requantize", wide).cost.tile == listed("requantize", V66).cost.tile


def test_four_multiply_pipes_do_not_help_without_slots():
    many = HvxMachine(60, multiply_pipes=4)
    assert convolution.v60(many, 3, 12).tile[0].code.interval == 4


def test_a_second_load_port_helps_what_loads():
    assert listed("max_2x2_s2", V66).cost.tile == 4
    assert listed("max_2x2_s2", HvxMachine(66, load_ports=2)).cost.tile < 4


@pytest.mark.parametrize(
    "kernel",
    [
        lambda m: convolution.v60(m, 3, 12),
        lambda m: convolution.three_by_three(m, 1),
        lambda m: listed("add", m),
    ],
)
def test_wider_vectors_do_twice_the_work_in_the_same_packets(kernel):
    narrow, wide = kernel(HvxMachine(60)).cost, kernel(HvxMachine(60, vector_bytes=256)).cost
    assert wide.tile == narrow.tile
    assert wide.channels == 2 * narrow.channels
    assert wide.macs == 2 * narrow.macs


def test_architectures_reach_their_peak_rate():
    assert convolution.v60(V60, 3, 48).macs_per_packet == pytest.approx(256, rel=0.03)
    pair = convolution.v65(HvxMachine(65), 3, 48)
    assert pair.macs_per_packet == pytest.approx(512 * 8 / 9, rel=0.03)
    assert convolution.v66(V66, 3, 48).macs_per_packet == pytest.approx(512, rel=0.06)
