"""Between convolutions of lines nothing is left of the reshapes, which absorb as ever."""

from collections.abc import Callable

import numpy as np
import onnx
from onnx import helper

from hexsim.layers import Concat, Convolution, Elementwise, Permute, Pooling, Reshape, StridedSlice

Make = Callable[..., onnx.ModelProto]
node = helper.make_node
rng = np.random.default_rng(8)
LINE = {"x": (1, 4, 16)}
W = {"w": rng.standard_normal((4, 4, 3))}
NORM = {
    "scale": rng.uniform(0.5, 2, 4),
    "shift": rng.standard_normal(4),
    "mean": rng.standard_normal(4),
    "variance": rng.uniform(0.5, 2, 4),
}


def conv(source: str, result: str) -> onnx.NodeProto:
    return node("Conv", [source, "w"], [result], name=result, pads=[1, 1])


def test_norm_and_clamp_go_into_the_convolution(onnx_model: Make, agree: Callable) -> None:
    nodes = [
        conv("x", "a"),
        node("BatchNormalization", ["a", "scale", "shift", "mean", "variance"], ["b"]),
        node("Relu", ["b"], ["c"]),
        conv("c", "y"),
    ]
    optimized = agree(onnx_model(nodes, LINE, ["y"], {**W, **NORM})).optimized
    first, second = (layer for layer in optimized.layers if isinstance(layer, Convolution))
    assert first.fused == ("b", "c")
    assert (first.output, second.inputs) == ("c", ("c",))


def test_a_network_of_lines_has_no_reshapes_inside(onnx_model: Make, agree: Callable) -> None:
    nodes = [
        conv("x", "a"),
        node("MaxPool", ["a"], ["p"], kernel_shape=[2], strides=[2]),
        conv("p", "q"),
        node("Sigmoid", ["q"], ["s"]),
        node("Add", ["s", "p"], ["r"]),
        node("Mul", ["r", "k"], ["m"]),
        node("Concat", ["m", "p"], ["j"], axis=1),
        node("Slice", ["j", "one", "five", "one"], ["z"]),
        node("Softmax", ["z"], ["f"], axis=1),
        conv("f", "y"),
    ]
    weights = {**W, "k": rng.standard_normal((1, 4, 1)), "one": [1], "five": [5]}
    layers = agree(onnx_model(nodes, LINE, ["y"], weights)).optimized.layers
    inside = layers[2:-2]
    assert [type(layer) for layer in layers[:2]] == [Reshape, Permute]
    assert not any(isinstance(layer, Reshape | Permute) for layer in inside)
    for kind in (Pooling, Elementwise, Concat, StridedSlice):
        assert any(isinstance(layer, kind) for layer in inside)


def test_a_line_that_others_read_stays(onnx_model: Make, agree: Callable) -> None:
    nodes = [
        conv("x", "a"),
        node("Relu", ["a"], ["r"]),
        conv("r", "y"),
        node("Add", ["r", "x"], ["z"]),
    ]
    layers = agree(onnx_model(nodes, LINE, ["y", "z"], W)).optimized.layers
    kept = [layer.output for layer in layers if isinstance(layer, Reshape)]
    assert "r" in kept
    assert "y" not in [layer.output for layer in layers if isinstance(layer, Convolution)]


def test_an_operand_along_the_batch_is_not_mistaken(onnx_model: Make, agree: Callable) -> None:
    nodes = [conv("x", "a"), node("Mul", ["a", "k"], ["m"]), conv("m", "y")]
    weights = {**W, "k": rng.standard_normal((2, 1, 1))}
    agree(onnx_model(nodes, {"x": (2, 4, 16)}, ["y"], weights))


VOLUME = {"x": (1, 4, 5, 6, 7)}
CUBE = {"w": rng.standard_normal((4, 4, 3, 3, 3))}


def conv3d(source: str, result: str) -> onnx.NodeProto:
    return node("Conv", [source, "w"], [result], name=result, pads=[1] * 6)


def test_convolutions_of_volumes_absorb_what_follows(onnx_model: Make, agree: Callable) -> None:
    nodes = [
        conv3d("x", "a"),
        node("BatchNormalization", ["a", "scale", "shift", "mean", "variance"], ["b"]),
        node("Relu", ["b"], ["c"]),
        conv3d("c", "d"),
        node("Add", ["d", "c"], ["e"]),
        node("Mul", ["e", "k"], ["f"]),
        node("Relu", ["f"], ["g"]),
        conv3d("g", "y"),
    ]
    weights = {**CUBE, **NORM, "k": rng.standard_normal((1, 4, 1, 1, 1))}
    layers = agree(onnx_model(nodes, VOLUME, ["y"], weights)).optimized.layers
    convolutions = [layer for layer in layers if isinstance(layer, Convolution)]
    assert convolutions[0].fused == ("b", "c")
    inside = layers[2:-1]
    assert not any(isinstance(layer, Reshape | Permute) for layer in inside)
    (product,) = (
        layer for layer in layers if isinstance(layer, Elementwise) and layer.kind == "product"
    )
    assert product.clamp.low == 0


def test_an_operand_along_the_depth_is_not_mistaken(onnx_model: Make, agree: Callable) -> None:
    nodes = [conv3d("x", "a"), node("Mul", ["a", "k"], ["m"]), conv3d("m", "y")]
    agree(onnx_model(nodes, VOLUME, ["y"], {**CUBE, "k": rng.standard_normal((1, 1, 5, 1, 1))}))
    agree(onnx_model(nodes, VOLUME, ["y"], {**CUBE, "k": rng.standard_normal((1, 4, 1, 6, 7))}))


def test_volumes_are_joined_and_cut_along_their_images(onnx_model: Make, agree: Callable) -> None:
    nodes = [
        conv3d("x", "a"),
        node("Concat", ["a", "a"], ["j"], axis=1),
        node("Slice", ["j", "two", "six", "one"], ["s"]),
        node("Slice", ["s", "one", "six", "two"], ["h"]),
        node("Pad", ["h", "ends"], ["p"]),
        conv3d("p", "y"),
    ]
    weights = {**CUBE, "one": [1], "two": [2], "six": [6], "ends": [0, 0, 0, 1, 0, 0, 0, 0, 0, 2]}
    agree(onnx_model(nodes, VOLUME, ["y"], weights))
