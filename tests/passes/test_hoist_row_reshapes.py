"""Biases and functions go into products with weights, whatever axes lie between."""

from collections.abc import Callable

import numpy as np
import onnx
import pytest
from onnx import helper

from hexsim.layers import FullyConnected, Reshape

Make = Callable[..., onnx.ModelProto]
node = helper.make_node
rng = np.random.default_rng(8)
X = {"x": (2, 5, 6)}
W = {"w": rng.standard_normal((6, 6)), "b": rng.standard_normal((1, 1, 6)), "k": 0.5}
PRODUCT = node("MatMul", ["x", "w"], ["m"])


def test_a_chain_of_products_stays_in_rows(onnx_model: Make, agree: Callable) -> None:
    nodes = [
        PRODUCT,
        node("Add", ["m", "b"], ["a"]),
        node("Sigmoid", ["a"], ["s"]),
        node("Mul", ["k", "s"], ["t"]),
        node("MatMul", ["t", "w"], ["n"]),
        node("Relu", ["n"], ["y"]),
    ]
    layers = agree(onnx_model(nodes, X, ["y"], W)).optimized.layers
    kinds = [layer.type for layer in layers]
    assert kinds.count("reshape") == 2
    assert kinds[0] == kinds[-1] == "reshape"
    first, last = (layer for layer in layers if isinstance(layer, FullyConnected))
    assert first.bias is not None
    assert last.clamp.limits


@pytest.mark.parametrize(
    "behind",
    [
        [node("Add", ["m", "rows"], ["y"])],
        [node("Add", ["m", "x"], ["y"])],
        [node("Sigmoid", ["m"], ["s"]), node("Add", ["s", "m"], ["y"])],
    ],
)
def test_what_knows_more_than_outputs_stays(
    behind: list[onnx.NodeProto], onnx_model: Make, agree: Callable
) -> None:
    weights = {**W, "rows": rng.standard_normal((5, 6))}
    layers = agree(onnx_model([PRODUCT, *behind], X, ["y"], weights)).optimized.layers
    places = [type(layer) for layer in layers]
    assert places.index(FullyConnected) + 1 == places.index(Reshape, 1)
