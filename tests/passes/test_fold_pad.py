"""Padding in front of a convolution or a maximum becomes part of its window."""

from collections.abc import Callable

import numpy as np
import onnx
import pytest
from onnx import helper

from hexsim.layers import Convolution, Opaque, Pad, Pooling

Make = Callable[..., onnx.ModelProto]
node = helper.make_node
rng = np.random.default_rng(8)
W = rng.standard_normal((4, 3, 3, 3))
CONV = node("Conv", ["a", "w"], ["y"], pads=[1, 0, 0, 0], strides=[2, 2])
PADS = [0, 0, 0, 1, 0, 0, 2, 1]


@pytest.mark.parametrize(
    ("pad", "weights", "opset"),
    [
        (node("Pad", ["x"], ["a"], pads=PADS, name="pad"), {}, 10),
        (node("Pad", ["x", "p"], ["a"], name="pad"), {"p": PADS}, 13),
        (node("Pad", ["x", "p", "v"], ["a"], name="pad"), {"p": PADS, "v": 0.0}, 17),
        (
            node("Pad", ["x", "p", "", "axes"], ["a"], name="pad"),
            {"p": [1, 0, 1, 2], "axes": [-1, 2]},
            18,
        ),
    ],
)
def test_zeros_fold(
    pad: onnx.NodeProto, weights: dict, opset: int, onnx_model: Make, agree: Callable
) -> None:
    model = onnx_model([pad, CONV], {"x": (1, 3, 9, 8)}, ["y"], {"w": W, **weights}, opset)
    (layer,) = agree(model).optimized.layers
    assert isinstance(layer, Convolution)
    assert layer.window.pads == (1, 1, 2, 1)
    assert layer.fused == ("pad",)


@pytest.mark.parametrize(
    ("pad", "weights"),
    [
        (node("Pad", ["x", "p", "v"], ["a"]), {"p": PADS, "v": 1.0}),
        (node("Pad", ["x", "p"], ["a"], mode="edge"), {"p": PADS}),
        (node("Pad", ["x", "p"], ["a"], mode="reflect"), {"p": PADS}),
        (node("Pad", ["x", "p"], ["a"]), {"p": [1, 0, 0, 0, 0, 0, 0, 0]}),
        (
            node("Pad", ["x", "p", "v", "axes"], ["a"]),
            {"p": [1, 1, 1, 1], "axes": [2, 3], "v": 1.0},
        ),
    ],
)
def test_anything_else_stays(
    pad: onnx.NodeProto, weights: dict, onnx_model: Make, agree: Callable
) -> None:
    model = onnx_model([pad, CONV], {"x": (1, 3, 9, 8)}, ["y"], {"w": W, **weights}, 18)
    assert any(isinstance(layer, Opaque | Pad) for layer in agree(model).optimized.layers)


def test_padding_that_others_read_stays(onnx_model: Make, agree: Callable) -> None:
    nodes = [node("Pad", ["x", "p"], ["a"]), CONV, node("Atan", ["a"], ["z"])]
    model = onnx_model(nodes, {"x": (1, 3, 9, 8)}, ["y", "z"], {"w": W, "p": PADS})
    assert any(layer.type == "pad" for layer in agree(model).optimized.layers)


def _pooled(
    onnx_model: Make, value: float, padding: list[int], **window: object
) -> onnx.ModelProto:
    pool = node("MaxPool", ["a"], ["y"], kernel_shape=[3, 3], strides=[2, 2], **window)
    nodes = [node("Pad", ["x", "p", "v"], ["a"], name="pad"), pool]
    return onnx_model(nodes, {"x": (1, 3, 8, 9)}, ["y"], {"p": padding, "v": value}, 17)


@pytest.mark.parametrize("value", [-np.inf, np.finfo(np.float32).min])
def test_the_lowest_numbers_fold_into_a_maximum(
    value: float, onnx_model: Make, agree: Callable
) -> None:
    model = _pooled(onnx_model, value, PADS, pads=[1, 0, 0, 0])
    (layer,) = agree(model).optimized.layers
    assert isinstance(layer, Pooling)
    assert layer.window.pads == (1, 1, 2, 1)
    assert layer.fused == ("pad",)


@pytest.mark.parametrize(
    ("value", "padding", "window"),
    [
        (-1.0, PADS, {}),
        (-np.inf, [0, 0, 3, 0, 0, 0, 0, 0], {}),
        (-np.inf, [0, 0, 0, 0, 0, 1, 0, 0], {}),
        (-np.inf, [0, 0, 0, 0, 0, 0, 2, 0], {"ceil_mode": 1}),
    ],
    ids=["a number", "a window of padding", "channels", "a window more"],
)
def test_padding_that_changes_a_maximum_stays(
    value: float, padding: list[int], window: dict, onnx_model: Make, agree: Callable
) -> None:
    model = _pooled(onnx_model, value, padding, **window)
    assert any(isinstance(layer, Opaque | Pad) for layer in agree(model).optimized.layers)


def test_infinity_that_no_maximum_reads_is_no_layer(onnx_model: Make, agree: Callable) -> None:
    nodes = [node("Pad", ["x", "p", "v"], ["a"]), node("Relu", ["a"], ["y"])]
    model = onnx_model(nodes, {"x": (1, 3, 9, 8)}, ["y"], {"v": -np.inf, "p": PADS}, 17)
    assert any(isinstance(layer, Opaque) for layer in agree(model).optimized.layers)
