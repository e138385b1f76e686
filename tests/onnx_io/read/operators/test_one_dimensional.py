"""1-D convolutions and poolings are 2-D ones of height one, equal to onnxruntime."""

from collections.abc import Callable

import numpy as np
import onnx
import pytest
from onnx import helper

from hexsim.layers import Convolution, Deconvolution, Opaque, Pooling, Reshape

Make = Callable[..., onnx.ModelProto]
node = helper.make_node
rng = np.random.default_rng(8)
LINE = {"x": (2, 4, 15)}


def weight(*shape: int) -> dict:
    return {"w": rng.standard_normal(shape), "b": rng.standard_normal(6)}


@pytest.mark.parametrize(
    ("operator", "shape", "attributes", "kind"),
    [
        ("Conv", (6, 4, 3), {}, Convolution),
        ("Conv", (6, 4, 3), {"pads": [2, 1], "strides": [2], "dilations": [3]}, Convolution),
        ("Conv", (6, 2, 5), {"group": 2, "auto_pad": "SAME_LOWER"}, Convolution),
        ("Conv", (6, 4, 3), {"kernel_shape": [3], "auto_pad": "VALID"}, Convolution),
        ("ConvTranspose", (4, 6, 3), {"strides": [2], "pads": [1, 1]}, Deconvolution),
        ("ConvTranspose", (4, 3, 4), {"group": 2, "strides": [3], "output_padding": [1]},
         Deconvolution),
        ("ConvTranspose", (4, 6, 4), {"strides": [2], "output_shape": [30]}, Deconvolution),
    ],
)  # fmt: skip
def test_convolutions(
    operator: str,
    shape: tuple[int, ...],
    attributes: dict,
    kind: type,
    onnx_model: Make,
    agree: Callable,
) -> None:
    nodes = [node(operator, ["x", "w", "b"], ["y"], name="c", **attributes)]
    layers = agree(onnx_model(nodes, LINE, ["y"], weight(*shape))).optimized.layers
    (convolution,) = (layer for layer in layers if isinstance(layer, kind))
    assert convolution.name == "c"
    assert convolution.window.kernel == (1, shape[2])


@pytest.mark.parametrize(
    ("operator", "attributes"),
    [
        ("MaxPool", {"kernel_shape": [3], "strides": [2], "ceil_mode": 1}),
        ("AveragePool", {"kernel_shape": [4], "pads": [1, 2], "count_include_pad": 1}),
        ("GlobalAveragePool", {}),
        ("GlobalMaxPool", {}),
    ],
)
def test_poolings(operator: str, attributes: dict, onnx_model: Make, agree: Callable) -> None:
    nodes = [node(operator, ["x"], ["y"], **attributes)]
    layers = agree(onnx_model(nodes, LINE, ["y"])).optimized.layers
    assert sum(isinstance(layer, Pooling) for layer in layers) == 1
    assert not any(isinstance(layer, Opaque) for layer in layers)


def test_what_is_left_out_leaves_nothing_behind(onnx_model: Make, agree: Callable) -> None:
    nodes = [node("Relu", ["x"], ["w"]), node("Conv", ["x", "w"], ["y"])]
    layers = agree(onnx_model(nodes, {"x": (4, 4, 5)}, ["y"])).read.layers
    assert not any(isinstance(layer, Reshape) for layer in layers)
    assert isinstance(layers[-1], Opaque)
