"""Factors behind a product of computed matrices become its own."""

from collections.abc import Callable

import onnx
from onnx import helper

from hexsim.layers import MatMul

Make = Callable[..., onnx.ModelProto]
node = helper.make_node
X = {"x": (2, 5, 6)}


def test_a_factor_goes_into_the_product(onnx_model: Make, agree: Callable) -> None:
    nodes = [
        node("MatMul", ["x", "z"], ["m"]),
        node("Mul", ["m", "k"], ["f"]),
        node("Mul", ["three", "f"], ["g"]),
        node("Softmax", ["g"], ["y"]),
    ]
    inputs = {**X, "z": (2, 6, 7)}
    first, _ = agree(onnx_model(nodes, inputs, ["y"], {"k": 0.5, "three": 3.0})).optimized.layers
    assert isinstance(first, MatMul)
    assert first.alpha == 1.5
    assert len(first.fused) == 2


def test_a_factor_below_zero_stays(onnx_model: Make, agree: Callable) -> None:
    nodes = [node("MatMul", ["x", "z"], ["m"]), node("Mul", ["m", "n"], ["y"])]
    inputs = {**X, "z": (2, 6, 7)}
    layers = agree(onnx_model(nodes, inputs, ["y"], {"n": -2.0})).optimized.layers
    assert len(layers) == 2
