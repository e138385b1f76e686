"""Permutes of six axes keep their values, and no tensor of six axes is left between reshapes."""

import itertools
from collections.abc import Callable

import numpy as np
import onnx
import pytest
from hypothesis import given
from hypothesis import strategies as st
from onnx import helper

from hexsim.layers import Permute, Reshape
from hexsim.passes.merge_axes import merged


@given(st.data())
def test_merged_axes_move_the_same_elements(data: st.DataObject) -> None:
    shape = tuple(data.draw(st.lists(st.integers(1, 3), min_size=1, max_size=7)))
    permutation = tuple(data.draw(st.permutations(range(len(shape)))))
    x = np.arange(np.prod(shape)).reshape(shape)
    fewer, order = merged(shape, permutation)
    moved = x.reshape(fewer).transpose(order).ravel()
    np.testing.assert_array_equal(moved, x.transpose(permutation).ravel())
    assert 1 not in fewer
    assert all(after != before + 1 for before, after in itertools.pairwise(order))


@pytest.mark.parametrize(
    ("split", "permutation", "axes"),
    [
        ((1, 2, 4, 3, 2, 5), (0, 1, 3, 2, 4, 5), 4),  # windows of an image
        ((2, 3, 2, 2, 4, 5), (0, 1, 4, 2, 5, 3), 5),  # pixel shuffle
        ((2, 2, 2, 1, 6, 5, 1), (0, 3, 1, 2, 4, 6, 5), 1),  # nothing moves
    ],
)
def test_six_axes_between_reshapes_are_gone(
    split: tuple[int, ...],
    permutation: tuple[int, ...],
    axes: int,
    onnx_model: Callable[..., onnx.ModelProto],
    agree: Callable[..., object],
) -> None:
    nodes = [
        helper.make_node("Relu", ["x"], ["r"]),
        helper.make_node("Reshape", ["r", "split"], ["a"]),
        helper.make_node("Transpose", ["a"], ["b"], perm=permutation),
        helper.make_node("Reshape", ["b", "flat"], ["c"]),
        helper.make_node("Relu", ["c"], ["y"]),
    ]
    size = int(np.prod(split))
    weights = {"split": np.array(split), "flat": np.array([2, size // 2])}
    network = agree(onnx_model(nodes, {"x": (size,)}, ["y"], weights, 13)).optimized  # type: ignore[attr-defined]
    assert max(len(tensor.shape) for tensor in network.tensors.values()) <= max(axes, 2)
    permutes = [layer for layer in network.layers if isinstance(layer, Permute)]
    assert [len(layer.permutation) for layer in permutes] == [axes] * (axes > 1)


def test_what_others_read_keeps_its_axes(
    onnx_model: Callable[..., onnx.ModelProto], agree: Callable[..., object]
) -> None:
    nodes = [
        helper.make_node("Transpose", ["x"], ["b"], perm=(0, 1, 3, 2, 4, 5)),
        helper.make_node("Reshape", ["b", "flat"], ["y"]),
    ]
    model = onnx_model(nodes, {"x": (1, 2, 4, 3, 2, 5)}, ["b", "y"], {"flat": [-1]}, 13)
    network = agree(model).optimized  # type: ignore[attr-defined]
    assert network.shape("b") == (1, 2, 3, 4, 2, 5)
    assert sum(isinstance(layer, Reshape) for layer in network.layers) == 3
