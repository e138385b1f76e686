"""Costs of a kernel follow from its segments."""

import pytest

from hexsim.hvx.isa import HvxMachine
from hexsim.hvx.streams import convolution, listed

V60 = HvxMachine(60)


def test_multiply_adds_are_those_of_the_tile():
    width, rows = 3, 12
    assert convolution.v60(V60, width, rows).cost.macs == 4 * 32 * 32 * width * rows
    assert convolution.v65(HvxMachine(65), width, rows).cost.macs == 8 * 64 * 32 * width * rows
    assert convolution.v66(HvxMachine(66), width, rows).cost.macs == 4 * 32 * 32 * width * rows
    assert convolution.convolution(V60, 7, 7, 2).cost.macs == 4 * 32 * 4 * 49


def test_vector_accesses_are_counted_where_they_go():
    cost = convolution.v66(HvxMachine(66), 3, 4).cost
    steps = 3 * 4
    assert (cost.vtcm_vectors, cost.l2_vectors) == (8 * steps, 2 * steps + 1)
    cost = convolution.v65(HvxMachine(65), 3, 4).cost
    assert (cost.vtcm_vectors, cost.l2_vectors) == (32 * steps, 4)
    assert convolution.v60(V60, 3, 4).cost.l2_vectors == 8 * steps + 1
    assert listed("copy", V60).cost.l2_vectors == 2


@pytest.mark.parametrize("rows", [1, 2, 5, 9])
def test_another_row_of_taps_costs_the_same_every_time(rows):
    costs = [convolution.v60(V60, 3, n).cost.tile for n in (rows + 1, rows + 2, rows + 3)]
    assert costs[2] - costs[1] == costs[1] - costs[0] == 16 * 3 + 1


def test_a_tile_is_never_faster_than_its_busiest_resource():
    for kernel in (convolution.three_by_three(V60, 1), listed("add", V60)):
        assert kernel.tile[0].code.bound <= kernel.cost.tile


def test_calls_and_rows_cost_something():
    kernel = convolution.three_by_three(V60, 1)
    assert kernel.cost.call > 0
    assert kernel.cost.row > 0


def test_scalar_code_needs_no_vectors():
    cost = listed("scalar_copy", V60, count=3).cost
    assert (cost.l2_vectors, cost.vtcm_vectors, cost.tile) == (0, 0, 7)


def test_which_loops_are_fed_by_scalar_loads():
    assert convolution.v60(V60, 3, 4).cost.scalar_fed
    assert convolution.v65(HvxMachine(65), 3, 4).cost.scalar_fed
    assert not convolution.v66(HvxMachine(66), 3, 4).cost.scalar_fed
    assert not convolution.three_by_three(V60, 1).cost.scalar_fed


def test_a_pair_of_slices_is_twice_the_channels():
    pair, single = (convolution.v65(HvxMachine(65), 3, 4, slices=n).cost for n in (2, 1))
    assert (pair.channels, single.channels) == (64, 32)
    assert (pair.pixels, single.pixels) == (8, 8)
