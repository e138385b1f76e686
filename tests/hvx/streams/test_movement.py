"""Which loop moves elements, and what it is bound by."""

import pytest

from hexsim.hvx.isa import HvxMachine
from hexsim.hvx.streams import listed, movement

V66 = HvxMachine(66)


def test_a_run_of_a_vector_is_a_load_and_a_store():
    kernel = movement.move_loop(V66, 128, 1)
    assert kernel == listed("rows", V66) == movement.move_loop(V66, 4096, 33)
    assert kernel.cost.l2_vectors == 2


@pytest.mark.parametrize("count", [2, 4, 16, 128])
def test_a_vector_of_runs_takes_a_load_for_each(count):
    cost = listed("runs", V66, count).cost
    assert cost.l2_vectors == count + 1
    assert cost.tile >= 2 * count, "an unaligned load and a turn both want the permute unit"


@pytest.mark.parametrize("sources", [1, 2, 3, 9])
def test_a_vector_out_of_networks_takes_three_controls_for_each_source(sources):
    cost = listed("networks", V66, sources).cost
    assert cost.l2_vectors == 4 * sources + 1
    assert cost.tile >= 4 * sources


def test_the_cheaper_of_both_ways_is_taken():
    few_runs, few_sources = movement.move_loop(V66, 64, 2), movement.move_loop(V66, 1, 2)
    assert few_runs == listed("runs", V66, 2)
    assert few_sources == listed("networks", V66, 2)
    assert movement.move_loop(V66, 1, 1000) == listed("runs", V66, 128)


def test_two_permute_units_help():
    wide = HvxMachine(66, permute_pipes=2)
    assert listed("runs", wide, 16).cost.tile < listed("runs", V66, 16).cost.tile
