"""Blocks, tiles and gathers in time: whole vectors where they stay so, else in flat memory."""

import pytest

from hexsim.hvx.isa import HvxMachine
from hexsim.hvx.kernels import Target, kernel_streams, node_work
from hexsim.hvx.kernels.movement import origin, permuting
from hexsim.hvx.streams import listed, movement
from hexsim.layers import DepthToSpace, Gather, Pad, SpaceToDepth, Tile
from hexsim.timing.memory import Traffic
from tests.small_networks import Sketch, only_call

V66 = HvxMachine(66)
TARGET = Target(V66, 4, 1 << 20, 1 << 18)


def call_of(shape, kind, **attributes):
    net = Sketch(shape)
    return only_call(net, net.add(kind, "in", **attributes))


@pytest.mark.parametrize(
    ("shape", "kind", "attributes", "move"),
    [
        # a row of a block has 2 x 64 channels in one run
        ((1, 8, 8, 256), DepthToSpace, {"block": 2}, listed("rows", V66)),
        ((1, 8, 8, 64), SpaceToDepth, {"block": 2}, listed("rows", V66)),
        ((1, 8, 8, 128), DepthToSpace, {"block": 2}, listed("runs", V66, 2)),
        ((1, 8, 8, 64), DepthToSpace, {"block": 2, "mode": "CRD"}, listed("networks", V66, 2)),
        ((1, 8, 8, 16), Tile, {"repeats": (1, 1, 1, 3)}, listed("networks", V66, 2)),
        ((1, 6, 6, 64), Tile, {"repeats": (1, 1, 2, 1)}, listed("rows", V66)),
        ((1, 8, 8, 64), Gather, {"axis": 3, "indices": (5, 9)}, listed("networks", V66, 2)),
        ((1, 8, 8, 256), Gather, {"axis": 2, "indices": (5, 0)}, listed("rows", V66)),
    ],
)
def test_moves_lie_between_changes_of_layout(shape, kind, attributes, move) -> None:
    call = call_of(shape, kind, **attributes)
    steps = (listed("from_d32", V66), move, listed("to_d32", V66))
    assert kernel_streams(call, TARGET) == steps
    work = node_work(call, TARGET, Traffic(10, 20))
    assert (work.nodes, len(work.stages), work.cost_model) == (3, 3, "kernel")
    assert (work.read_bytes, work.write_bytes) == (10, 20)


@pytest.mark.parametrize(
    ("shape", "kind", "attributes"),
    [
        ((1, 8, 8, 64), Tile, {"repeats": (2, 3, 2, 2)}),
        ((1, 8, 6, 48), Tile, {"repeats": (1, 3, 1, 1)}),
        ((1, 8, 8, 64), Gather, {"axis": 1, "indices": (5, 5, 0)}),
        ((1, 8, 8, 64), Pad, {"begins": (0, 2, 0, 0), "ends": (0, 2, 0, 0), "mode": "reflect"}),
    ],
)
def test_whole_vectors_are_copied(shape, kind, attributes) -> None:
    call = call_of(shape, kind, **attributes)
    assert kernel_streams(call, TARGET) == (listed("copy", V66),)
    assert node_work(call, TARGET, Traffic()).cost_model == "kernel"


def test_flat_tensors_need_no_change_of_layout() -> None:
    call = call_of((1, 256), Gather, axis=1, indices=(3, 2))
    assert kernel_streams(call, TARGET) == (listed("networks", V66, 3),)


def test_edges_inside_a_vector_are_out_of_two() -> None:
    call = call_of((1, 8, 8, 64), Pad, begins=(0, 0, 4, 0), ends=(0, 0, 4, 0), mode="edge")
    assert kernel_streams(call, TARGET) == (listed("networks", V66, 2),)


@pytest.mark.parametrize(
    ("split", "permutation", "run", "sources"),
    [
        ((1, 8, 8, 64), (0, 2, 1, 3), 64, 2),
        ((1, 8, 8, 256), (0, 2, 1, 3), 256, 1),
        ((1, 16, 4, 2), (0, 1, 3, 2), 1, 1),
        ((1024, 1024), (1, 0), 1, 128),
        ((64, 3), (1, 0), 1, 2),
        ((5, 1, 7), (0, 1, 2), 35, 1),
    ],
)
def test_bytes_of_a_result_are_followed_to_their_source(split, permutation, run, sources) -> None:
    assert origin(split, permutation) == (run, sources)


def test_large_matrices_are_turned_over_in_blocks() -> None:
    shape, loop = permuting(V66, (1024, 1024), (1, 0))
    assert (shape, loop) == ((1, 1024 * 1024), movement.transpose(V66))
    shape, loop = permuting(V66, (200, 130), (1, 0))
    assert (shape, loop) == ((1, 4 * 128 * 128), movement.transpose(V66))
    assert permuting(V66, (64, 3), (1, 0))[1] == listed("networks", V66, 2)


def test_a_block_is_read_and_written_twice() -> None:
    cost = movement.transpose(V66).cost
    assert cost.l2_vectors == 2 * 2 * 16
    assert cost.tile >= 2 * 32, "a shuffle of a pair a packet"
    assert cost.pixels == 16 * 4
