"""Softmax along any axis is one along the last, between permutes."""

from collections.abc import Callable

import onnx
import pytest
from onnx import helper

from hexsim.layers import Permute, Softmax
from hexsim.layers.support import refusal

Make = Callable[..., onnx.ModelProto]


@pytest.mark.parametrize(("axis", "opset"), [(0, 13), (1, 13), (2, 13), (-2, 17), (1, 11), (2, 11)])
def test_any_axis(axis: int, opset: int, onnx_model: Make, agree: Callable) -> None:
    nodes = [
        helper.make_node("Relu", ["x"], ["r"]),
        helper.make_node("Softmax", ["r"], ["s"], axis=axis, name="n"),
        helper.make_node("Tanh", ["s"], ["y"]),
    ]
    network = agree(onnx_model(nodes, {"x": (3, 4, 5, 6)}, ["y"], {}, opset)).optimized
    (layer,) = (layer for layer in network.layers if isinstance(layer, Softmax))
    assert layer.name == "n"
    assert refusal(layer, "dsp", network) is None


def test_the_last_axis_needs_no_permutes(onnx_model: Make, agree: Callable) -> None:
    nodes = [helper.make_node("Softmax", ["x"], ["y"], axis=1)]
    network = agree(onnx_model(nodes, {"x": (1, 4, 5, 6)}, ["y"])).optimized
    assert not any(isinstance(layer, Permute) for layer in network.layers)
