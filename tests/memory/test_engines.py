"""Sizes of tensors and nodes of a graph on the vector unit."""

from __future__ import annotations

import pytest

from hexsim.graph.ir import Network, Shape, Tensor
from hexsim.hvx.isa import HvxMachine
from hexsim.hvx.kernels import Target
from hexsim.layers import Neuron
from hexsim.memory.engines import SCRATCH_BYTES, d32_bytes, flat_bytes, on_hvx
from hexsim.memory.graph import SubnetGraph
from tests.deployed import planned

V62 = Target(HvxMachine(62), 2, 1 << 18, 0)


@pytest.mark.parametrize(
    ("shape", "code", "expected"),
    [
        ((1, 112, 112, 64), 1, 120 * 116 * 64 + 256),
        ((1, 7, 7, 1), 1, 15 * 12 * 32 + 256),
        ((2, 5, 8, 33), 1, 2 * 13 * 12 * 64 + 256),
        ((1, 7, 7, 1), 2, 15 * 12 * 32 * 2 + 256),
    ],
)
def test_d32_has_rows_and_pixels_to_spare_and_whole_sheets(
    shape: Shape, code: int, expected: int
) -> None:
    assert d32_bytes(shape, code) == expected


def test_flat_tensors_are_whole_vectors_with_a_guard_on_either_side() -> None:
    assert flat_bytes((1, 1, 1, 129), 1) == 256 + 256
    assert flat_bytes((1, 100), 2) == 256 + 256


def graph(shape: Shape, *, from_hta: bool = False, leaving: bool = True) -> SubnetGraph:
    """In -> a -> out."""
    layers = (
        Neuron(name="first", inputs=("in",), outputs=("a",), function="tanh"),
        Neuron(name="second", inputs=("a",), outputs=("out",), function="tanh"),
    )
    tensors = {name: Tensor(name, shape) for name in ("in", "a", "out")}
    network = Network("n", layers, tensors, {}, ("in",), ("out",))
    (subnet,) = planned(network).subnets
    return on_hvx(
        subnet,
        V62,
        from_hta={"in"} if from_hta else set(),
        leaving={"out"} if leaving else set(),
    )


def test_an_image_goes_into_d32_and_out_of_it() -> None:
    shape = (1, 8, 8, 32)
    flat, d32 = flat_bytes(shape, 1), d32_bytes(shape, 1)
    plan = graph(shape)
    assert [[size for _, size in node.makes] for node in plan.before] == [[flat], [d32]]
    assert [size for node in plan.layers for _, size in node.makes] == [d32, d32]
    assert [[size for _, size in node.makes] for node in plan.after] == [[flat], []]
    assert plan.live == (2 * d32, 2 * d32)
    assert plan.scratch_bytes == SCRATCH_BYTES


def test_vectors_stay_as_they_are() -> None:
    shape = (1, 1, 1, 200)
    plan = graph(shape)
    assert [len(node.makes) for node in (*plan.before, *plan.after)] == [1, 0]
    assert plan.live == (2 * flat_bytes(shape, 1),) * 2


def test_what_lies_with_the_tensor_engine_takes_no_place_of_its_own() -> None:
    shape = (1, 8, 8, 32)
    plan = graph(shape, from_hta=True, leaving=False)
    assert [[size for _, size in node.makes] for node in plan.before] == [
        [],
        [d32_bytes(shape, 1)],
    ]
    assert [node.makes for node in plan.after] == [()]
