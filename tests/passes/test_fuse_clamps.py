"""Relu, Relu6 and Clip move into the layer before them."""

from collections.abc import Callable

import numpy as np
import onnx
import pytest
from onnx import helper

from hexsim.layers import RELU, Clamp, Neuron

Make = Callable[..., onnx.ModelProto]
node = helper.make_node
rng = np.random.default_rng(4)
WEIGHTS = {
    "w": rng.standard_normal((3, 3, 1, 1)),
    "m": rng.standard_normal((5, 5)),
    "v": rng.random(3) + 0.1,
    "lo": 0.0,
    "hi": 6.0,
    "half": 0.5,
}


@pytest.mark.parametrize(
    "producer",
    [
        node("Conv", ["x", "w"], ["a"], name="p"),
        node("MatMul", ["x", "m"], ["a"], name="p"),
        node("Add", ["x", "x"], ["a"], name="p"),
        node("BatchNormalization", ["x", "v", "v", "v", "v"], ["a"], name="p"),
    ],
    ids=lambda producer: producer.op_type,
)
def test_clamps_fuse(producer: onnx.NodeProto, onnx_model: Make, agree: Callable) -> None:
    nodes = [
        producer,
        node("Relu", ["a"], ["b"], name="relu"),
        node("Clip", ["b", "", "hi"], ["y"], name="six"),
    ]
    shape = (2, 5) if producer.op_type == "MatMul" else (1, 3, 4, 5)
    optimized = agree(onnx_model(nodes, {"x": shape}, ["y"], WEIGHTS)).optimized
    (layer,) = optimized.layers
    assert (layer.name, layer.fused, layer.output) == ("p", ("relu", "six"), "y")
    assert layer.clamp == Clamp(0.0, 6.0)


def test_two_clamps_become_one(onnx_model: Make, agree: Callable) -> None:
    nodes = [node("Clip", ["x", "half", "hi"], ["a"]), node("Clip", ["a", "lo", ""], ["y"])]
    optimized = agree(onnx_model(nodes, {"x": (1, 9)}, ["y"], WEIGHTS)).optimized
    (layer,) = optimized.layers
    assert isinstance(layer, Neuron)
    assert layer.clamp == Clamp(0.5, 6.0)


def test_a_tensor_that_others_read_keeps_its_clamp_apart(onnx_model: Make, agree: Callable) -> None:
    nodes = [
        node("Conv", ["x", "w"], ["a"]),
        node("Relu", ["a"], ["b"]),
        node("Add", ["a", "b"], ["y"]),
    ]
    optimized = agree(onnx_model(nodes, {"x": (1, 3, 4, 5)}, ["y"], WEIGHTS)).optimized
    assert [layer.type for layer in optimized.layers] == [
        "convolutional",
        "neuron",
        "elementwise_binary_op",
    ]


def test_a_pooling_takes_no_clamp(onnx_model: Make, agree: Callable) -> None:
    nodes = [node("MaxPool", ["x"], ["a"], kernel_shape=[2, 2]), node("Relu", ["a"], ["y"])]
    optimized = agree(onnx_model(nodes, {"x": (1, 3, 4, 5)}, ["y"])).optimized
    assert [layer.type for layer in optimized.layers] == ["pooling", "neuron"]
    assert optimized.layers[1].clamp == RELU
