"""A Gather with one index is a slice of a tensor whose axes are joined before."""

from collections.abc import Callable

import numpy as np
import onnx
import pytest
from onnx import helper

from hexsim.layers import Neuron, Reshape, StridedSlice

Make = Callable[..., onnx.ModelProto]
node = helper.make_node


@pytest.mark.parametrize("axis", [0, 1])
def test_a_place_of_an_axis(axis: int, onnx_model: Make, agree: Callable) -> None:
    nodes = [
        node("Gather", ["x", "two"], ["a"], axis=axis, name="a"),
        node("Gather", ["x", "last"], ["b"], axis=axis, name="b"),
        node("Tanh", ["a"], ["y"]),
        node("Tanh", ["b"], ["z"]),
    ]
    weights = {"two": np.array(2), "last": np.array(-1)}
    layers = agree(onnx_model(nodes, {"x": (4, 5, 3)}, ["y", "z"], weights)).optimized.layers
    kinds = [type(layer) for layer in layers]
    assert kinds == [Reshape, StridedSlice, StridedSlice, Neuron, Neuron]
    assert [layer.name for layer in layers[:3]] == ["a.joined", "a", "b"]
    assert layers[1].parts[0].start == 2 * (5, 3)[axis]


@pytest.mark.parametrize(
    ("index", "axis"),
    [(np.array(1), 2), ([1], 1), ([1, 2], 1)],  # the last axis; the axis stays; two places
)
def test_what_stays_as_it_is(index: object, axis: int, onnx_model: Make, agree: Callable) -> None:
    nodes = [node("Gather", ["x", "i"], ["a"], axis=axis), node("Tanh", ["a"], ["y"])]
    layers = agree(onnx_model(nodes, {"x": (4, 5, 3)}, ["y"], {"i": index})).optimized.layers
    assert isinstance(layers[0], StridedSlice)


def test_a_slice_that_somebody_else_reads_stays(onnx_model: Make, agree: Callable) -> None:
    nodes = [
        node("Slice", ["x", "one", "two", "zero"], ["s"]),
        node("Squeeze", ["s", "zero"], ["a"]),
        node("Tanh", ["a"], ["y"]),
    ]
    weights = {"zero": [0], "one": [1], "two": [2]}
    layers = agree(onnx_model(nodes, {"x": (4, 5, 3)}, ["y", "s"], weights)).optimized.layers
    assert isinstance(layers[0], StridedSlice)
