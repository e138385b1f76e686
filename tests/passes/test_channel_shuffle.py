"""Reshape, transpose, reshape is a channel shuffle, if it is one."""

from collections.abc import Callable

import onnx
import pytest
from onnx import helper

from hexsim.layers import ChannelShuffle

Make = Callable[..., onnx.ModelProto]
node = helper.make_node


def _model(make: Make, split: list[int], perm: list[int], outputs: list[str]) -> onnx.ModelProto:
    nodes = [
        node("Relu", ["x"], ["r"]),
        node("Reshape", ["r", "split"], ["a"], name="shuffle"),
        node("Transpose", ["a"], ["b"], perm=perm, name="swap"),
        node("Reshape", ["b", "join"], ["c"], name="join"),
        node("Tanh", ["c"], ["y"]),
    ]
    weights = {"split": split, "join": [2, 12, 3, 5]}
    return make(nodes, {"x": (2, 12, 3, 5)}, outputs, weights)


@pytest.mark.parametrize("groups", [2, 3, 6])
def test_a_shuffle(groups: int, onnx_model: Make, agree: Callable) -> None:
    split = [2, groups, 12 // groups, 3, 5]
    optimized = agree(_model(onnx_model, split, [0, 2, 1, 3, 4], ["y"])).optimized
    shuffle = optimized.producers["c"]
    assert isinstance(shuffle, ChannelShuffle)
    assert (shuffle.groups, shuffle.inputs) == (groups, ("r",))
    assert (shuffle.name, shuffle.fused) == ("shuffle", ("swap", "join"))
    assert len(optimized.layers) == 3


@pytest.mark.parametrize(
    ("split", "perm", "outputs"),
    [
        ([2, 3, 4, 3, 5], [0, 2, 1, 4, 3], ["y"]),  # swaps height and width too
        ([2, 3, 4, 15], [0, 2, 1, 3], ["y"]),  # joins height and width
        ([2, 3, 4, 3, 5], [0, 2, 1, 3, 4], ["y", "b"]),  # a tensor inside is an output
    ],
)
def test_what_is_no_shuffle(
    split: list[int], perm: list[int], outputs: list[str], onnx_model: Make, agree: Callable
) -> None:
    optimized = agree(_model(onnx_model, split, perm, outputs)).optimized
    assert not any(isinstance(layer, ChannelShuffle) for layer in optimized.layers)
