"""Batch norms and constant scales and shifts fold into what is before them, lazily."""

from collections.abc import Callable

import numpy as np
import onnx
import pytest
from onnx import helper

from hexsim.graph.ir import Network
from hexsim.layers import BatchNorm, Convolution, Elementwise, FullyConnected

Make = Callable[..., onnx.ModelProto]
node = helper.make_node
rng = np.random.default_rng(2)
IMAGE = {"x": (2, 3, 6, 5)}
NORM = {
    "g": rng.standard_normal(4),
    "s": rng.standard_normal(4),
    "m": rng.standard_normal(4),
    "v": rng.random(4) + 0.2,
}
CONV = {"w": rng.standard_normal((4, 3, 2, 2)), "b": rng.standard_normal(4)}


def _kinds(network: Network) -> list[type]:
    return [type(layer) for layer in network.layers]


@pytest.mark.parametrize("bias", [True, False])
def test_into_a_convolution(bias: bool, onnx_model: Make, agree: Callable) -> None:
    nodes = [
        node("Conv", ["x", "w", "b"][: 2 + bias], ["a"], name="conv"),
        node("BatchNormalization", ["a", *"gsmv"], ["y"], name="bn"),
    ]
    optimized = agree(onnx_model(nodes, IMAGE, ["y"], {**CONV, **NORM})).optimized
    (layer,) = optimized.layers
    assert isinstance(layer, Convolution)
    assert (layer.name, layer.fused, layer.outputs) == ("conv", ("bn",), ("y",))
    scale = NORM["g"] / np.sqrt(NORM["v"] + 1e-5)
    weight = (CONV["w"] * scale[:, None, None, None]).transpose(2, 3, 1, 0)
    np.testing.assert_allclose(optimized.constants[layer.weight].value(), weight, rtol=1e-5)


def test_scale_and_shift_nodes_and_clamps_follow(onnx_model: Make, agree: Callable) -> None:
    nodes = [
        node("Conv", ["x", "w"], ["a"], name="conv"),
        node("BatchNormalization", ["a", *"gsmv"], ["n"], name="bn"),
        node("Mul", ["k", "n"], ["c"], name="scale"),
        node("Sub", ["c", "d"], ["e"], name="shift"),
        node("Add", ["e", "one"], ["f"], name="one_more"),
        node("Relu", ["f"], ["y"], name="relu"),
    ]
    weights = {**CONV, **NORM, "k": rng.standard_normal((4, 1, 1)), "one": 1.0}
    weights["d"] = rng.standard_normal((1, 4, 1, 1))
    optimized = agree(onnx_model(nodes, IMAGE, ["y"], weights)).optimized
    (layer,) = optimized.layers
    assert layer.fused == ("bn", "scale", "shift", "one_more", "relu")


def test_the_layer_knows_the_moments_of_what_it_writes(onnx_model: Make, agree: Callable) -> None:
    nodes = [
        node("Conv", ["x", "w"], ["a"], name="conv"),
        node("BatchNormalization", ["a", *"gsmv"], ["n"], name="bn"),
        node("Mul", ["k", "n"], ["c"], name="scale"),
        node("Sub", ["c", "d"], ["y"], name="shift"),
    ]
    weights = {**CONV, **NORM, "k": rng.standard_normal((4, 1, 1)), "d": np.ones(1)}
    network = agree(onnx_model(nodes, IMAGE, ["y"], weights)).optimized
    (layer,) = network.layers
    assert isinstance(layer, Convolution)
    assert layer.moments is not None
    scale = weights["k"].ravel()
    expected = [NORM["s"] * scale - 1, np.abs(NORM["g"] * scale)]
    np.testing.assert_allclose(network.constants[layer.moments].value(), expected, rtol=1e-5)
    assert layer.moments not in network.weights


def test_without_a_batch_norm_no_moments_are_known(onnx_model: Make, agree: Callable) -> None:
    nodes = [node("Conv", ["x", "w"], ["a"]), node("Mul", ["a", "k"], ["y"])]
    weights = {**CONV, "k": rng.standard_normal((4, 1, 1))}
    (layer,) = agree(onnx_model(nodes, IMAGE, ["y"], weights)).optimized.layers
    assert isinstance(layer, Convolution)
    assert layer.moments is None


def test_into_a_matrix(onnx_model: Make, agree: Callable) -> None:
    weights = {"w": rng.standard_normal((6, 4)), "d": rng.standard_normal(4), **NORM}
    nodes = [
        node("MatMul", ["x", "w"], ["a"]),
        node("Add", ["d", "a"], ["b"]),
        node("BatchNormalization", ["b", *"gsmv"], ["y"]),
    ]
    optimized = agree(onnx_model(nodes, {"x": (3, 6)}, ["y"], weights)).optimized
    assert _kinds(optimized) == [FullyConnected]


def test_into_a_batch_norm_that_has_nothing_before_it(onnx_model: Make, agree: Callable) -> None:
    nodes = [
        node("BatchNormalization", ["x", *"gsmv"], ["a"]),
        node("Mul", ["a", "k"], ["b"]),
        node("Relu", ["b"], ["y"]),
    ]
    weights = {**NORM, "k": rng.standard_normal((4, 1, 1))}
    optimized = agree(onnx_model(nodes, {"x": (1, 4, 3, 3)}, ["y"], weights)).optimized
    assert _kinds(optimized) == [BatchNorm]


@pytest.mark.parametrize("case", ["read twice", "is an output", "behind a clamp", "other axis"])
def test_what_must_not_fold(case: str, onnx_model: Make, agree: Callable) -> None:
    weights = {**CONV, **NORM, "k": rng.standard_normal((5, 1))}
    head = [node("Conv", ["x", "w"], ["a"]), node("BatchNormalization", ["a", *"gsmv"], ["y"])]
    shapes = {"x": (2, 3, 6, 5)}
    nodes, outputs, kinds = {
        "read twice": (
            [*head, node("Tanh", ["a"], ["z"])],
            ["y", "z"],
            {Convolution, BatchNorm},
        ),
        "is an output": (head, ["y", "a"], {Convolution, BatchNorm}),
        "behind a clamp": (
            [
                node("Conv", ["x", "w"], ["r"]),
                node("Relu", ["r"], ["a"]),
                head[1],
            ],
            ["y"],
            {Convolution, BatchNorm},
        ),
        "other axis": (
            [head[0], node("Mul", ["a", "k"], ["y"])],
            ["y"],
            {Convolution, Elementwise},
        ),
    }[case]
    optimized = agree(onnx_model(nodes, shapes, outputs, weights)).optimized
    assert kinds <= set(_kinds(optimized))


def test_a_constant_minus_a_tensor_does_not_fold(onnx_model: Make, agree: Callable) -> None:
    nodes = [node("Conv", ["x", "w"], ["a"]), node("Sub", ["k", "a"], ["y"])]
    weights = {**CONV, "k": rng.standard_normal((4, 1, 1))}
    optimized = agree(onnx_model(nodes, IMAGE, ["y"], weights)).optimized
    assert _kinds(optimized) == [Convolution, Elementwise]


def test_shared_weights_are_not_scaled_for_both(onnx_model: Make, agree: Callable) -> None:
    nodes = [
        node("Conv", ["x", "w", "b"], ["a"]),
        node("BatchNormalization", ["a", *"gsmv"], ["y"]),
        node("Conv", ["x", "w", "b"], ["z"]),
    ]
    optimized = agree(onnx_model(nodes, IMAGE, ["y", "z"], {**CONV, **NORM})).optimized
    assert len(optimized.weights) == 4
