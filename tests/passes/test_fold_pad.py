"""Zero padding in front of a convolution becomes part of its window."""

from collections.abc import Callable

import numpy as np
import onnx
import pytest
from onnx import helper

from hexsim.layers import Convolution, Opaque, Pad

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
