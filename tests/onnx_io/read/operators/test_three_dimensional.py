"""3-D convolutions and poolings are 2-D ones over many images, equal to onnxruntime."""

from collections.abc import Callable

import numpy as np
import onnx
import pytest
from onnx import helper

from hexsim.layers import Convolution, Deconvolution, Opaque, Pooling

Make = Callable[..., onnx.ModelProto]
node = helper.make_node
rng = np.random.default_rng(8)
VOLUMES = [{"x": (1, 4, 7, 6, 9)}, {"x": (2, 4, 7, 6, 9)}]


def weight(*shape: int) -> dict:
    return {"w": rng.standard_normal(shape), "b": rng.standard_normal(6)}


@pytest.mark.parametrize("volume", VOLUMES, ids=["one", "two"])
@pytest.mark.parametrize(
    ("shape", "attributes"),
    [
        ((6, 4, 3, 3, 3), {}),
        ((6, 4, 1, 3, 3), {"pads": [0, 1, 1, 0, 1, 1]}),
        ((6, 4, 3, 1, 1), {"pads": [1, 0, 0, 1, 0, 0]}),
        ((6, 4, 1, 1, 1), {"strides": [2, 2, 2]}),
        ((6, 4, 3, 2, 3), {"pads": [2, 1, 0, 1, 0, 2], "strides": [2, 1, 3]}),
        ((6, 4, 3, 3, 3), {"pads": [2] * 6, "dilations": [2, 1, 3]}),
        ((6, 2, 3, 3, 3), {"group": 2, "auto_pad": "SAME_LOWER", "strides": [2, 2, 2]}),
        ((6, 4, 2, 3, 3), {"auto_pad": "SAME_UPPER"}),
        ((6, 4, 3, 3, 3), {"auto_pad": "VALID"}),
    ],
)  # fmt: skip
def test_convolutions(
    volume: dict, shape: tuple[int, ...], attributes: dict, onnx_model: Make, agree: Callable
) -> None:
    nodes = [node("Conv", ["x", "w", "b"], ["y"], name="c", **attributes)]
    layers = agree(onnx_model(nodes, volume, ["y"], weight(*shape))).optimized.layers
    (convolution,) = (layer for layer in layers if isinstance(layer, Convolution))
    assert convolution.name == "c"
    assert convolution.window.kernel == shape[3:]


def test_depthwise(onnx_model: Make, agree: Callable) -> None:
    nodes = [node("Conv", ["x", "w"], ["y"], group=4, pads=[1] * 6)]
    kernels = {"w": rng.standard_normal((8, 1, 3, 3, 3))}
    layers = agree(onnx_model(nodes, VOLUMES[1], ["y"], kernels)).optimized.layers
    assert not any(isinstance(layer, Opaque) for layer in layers)


@pytest.mark.parametrize("volume", VOLUMES, ids=["one", "two"])
@pytest.mark.parametrize(
    ("shape", "attributes"),
    [
        ((4, 6, 2, 2, 2), {"strides": [2, 2, 2]}),
        ((4, 6, 3, 3, 3), {"strides": [2, 2, 2], "pads": [1] * 6, "output_padding": [1, 1, 1]}),
        ((4, 3, 3, 2, 3), {"strides": [3, 1, 2], "group": 2, "pads": [0, 0, 1, 2, 1, 0]}),
        ((4, 6, 3, 3, 3), {"dilations": [2, 1, 2]}),
        ((4, 6, 1, 3, 3), {"strides": [2, 2, 2]}),
    ],
)
def test_transposed_convolutions(
    volume: dict, shape: tuple[int, ...], attributes: dict, onnx_model: Make, agree: Callable
) -> None:
    nodes = [node("ConvTranspose", ["x", "w", "b"], ["y"], name="c", **attributes)]
    layers = agree(onnx_model(nodes, volume, ["y"], weight(*shape))).optimized.layers
    (deconvolution,) = (layer for layer in layers if isinstance(layer, Deconvolution))
    assert deconvolution.name == "c"


@pytest.mark.parametrize("volume", VOLUMES, ids=["one", "two"])
@pytest.mark.parametrize(
    ("operator", "attributes", "poolings"),
    [
        ("MaxPool", {"kernel_shape": [2, 2, 2], "strides": [2, 2, 2]}, 2),
        ("MaxPool", {"kernel_shape": [3, 3, 3], "pads": [1] * 6, "strides": [2, 2, 2]}, 2),
        ("MaxPool", {"kernel_shape": [3, 2, 3], "dilations": [2, 2, 1], "ceil_mode": 1}, 2),
        ("MaxPool", {"kernel_shape": [1, 2, 2], "strides": [1, 2, 2]}, 1),
        ("MaxPool", {"kernel_shape": [2, 1, 1], "strides": [2, 1, 1]}, 1),
        ("AveragePool", {"kernel_shape": [3, 3, 3], "pads": [1] * 6}, 2),
        ("AveragePool", {"kernel_shape": [2, 3, 2], "pads": [1, 0, 1, 0, 1, 1],
                         "count_include_pad": 1, "strides": [2, 1, 2]}, 2),
        ("AveragePool", {"kernel_shape": [3, 2, 2], "auto_pad": "SAME_UPPER"}, 2),
        ("AveragePool", {"kernel_shape": [7, 6, 9]}, 1),
        ("AveragePool", {"kernel_shape": [7, 6, 9], "auto_pad": "SAME_LOWER"}, 2),
        ("GlobalAveragePool", {}, 1),
        ("GlobalMaxPool", {}, 1),
    ],
)  # fmt: skip
def test_poolings(
    volume: dict, operator: str, attributes: dict, poolings: int, onnx_model: Make, agree: Callable
) -> None:
    nodes = [node(operator, ["x"], ["y"], **attributes)]
    layers = agree(onnx_model(nodes, volume, ["y"])).optimized.layers
    assert sum(isinstance(layer, Pooling) for layer in layers) == poolings


def test_between_volumes_nothing_is_permuted(onnx_model: Make, agree: Callable) -> None:
    nodes = [
        node("Conv", ["x", "w"], ["a"], pads=[1] * 6),
        node("MaxPool", ["a"], ["p"], kernel_shape=[2, 2, 2], strides=[2, 2, 2]),
        node("Conv", ["p", "w"], ["c"], pads=[1] * 6),
        node("GlobalAveragePool", ["c"], ["y"]),
    ]
    kernels = {"w": rng.standard_normal((4, 4, 3, 3, 3))}
    layers = agree(onnx_model(nodes, VOLUMES[0], ["y"], kernels)).optimized.layers
    kinds = [layer.type for layer in layers]
    assert kinds.count("permute") == 1, "the input's"


def test_an_output_with_a_size_of_its_own_stays_opaque(onnx_model: Make, agree: Callable) -> None:
    kernels = {"w": rng.standard_normal((4, 6, 2, 2, 2))}
    nodes = [node("ConvTranspose", ["x", "w"], ["y"], output_shape=[8, 7, 10])]
    layers = agree(onnx_model(nodes, VOLUMES[0], ["y"], kernels)).optimized.layers
    (opaque,) = (layer for layer in layers if isinstance(layer, Opaque))
    assert opaque.op_type == "ConvTranspose"
