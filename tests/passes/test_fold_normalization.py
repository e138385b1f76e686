"""Scales and shifts behind a normalisation become its own."""

from collections.abc import Callable

import numpy as np
import onnx
from onnx import helper

from hexsim.layers import Elementwise, Normalization, Reshape

Make = Callable[..., onnx.ModelProto]
node = helper.make_node
rng = np.random.default_rng(8)
X = {"x": (2, 5, 12)}
G, B = {"g": rng.standard_normal(12)}, {"b": rng.standard_normal(12)}


def test_a_scale_that_makes_more_of_it_stays(onnx_model: Make, agree: Callable) -> None:
    norm = node("LayerNormalization", ["x", "g", "b"], ["n"])
    larger = {"k": rng.standard_normal((3, 2, 5, 12))}
    model = onnx_model([norm, node("Mul", ["n", "k"], ["y"])], X, ["y"], {**larger, **G, **B})
    assert any(isinstance(layer, Elementwise) for layer in agree(model).optimized.layers)


def test_shifts_before_scales(onnx_model: Make, agree: Callable) -> None:
    norm = node("LayerNormalization", ["x", "g", "b"], ["n"])
    nodes = [
        norm,
        node("Sub", ["n", "k"], ["s"]),
        node("Mul", ["s", "k"], ["m"]),
        node("Relu", ["m"], ["y"]),
    ]
    model = onnx_model(nodes, X, ["y"], {"k": rng.standard_normal((5, 1)), **G, **B})
    (layer,) = agree(model).optimized.layers
    assert isinstance(layer, Normalization)
    assert layer.clamp.limits


def test_a_group_norm_in_the_form_of_an_instance_norm(onnx_model: Make, agree: Callable) -> None:
    rows = rng.standard_normal((6, 6, 1, 1))
    nodes = [
        node("Conv", ["x", "w"], ["c"]),
        node("Reshape", ["c", "split"], ["i"]),
        node("InstanceNormalization", ["i", "ones", "zeros"], ["n"], name="norm", epsilon=1e-3),
        node("Reshape", ["n", "whole"], ["j"]),
        node("Mul", ["j", "g"], ["s"]),
        node("Add", ["s", "b"], ["t"]),
        node("Relu", ["t"], ["u"]),
        node("Conv", ["u", "w"], ["y"]),
    ]
    weights = {
        "w": rows,
        "split": [0, 2, -1],
        "whole": [1, 6, 4, 5],
        "ones": np.array([1.0, 0.5]),
        "zeros": np.array([0.0, 2.0]),
        "g": rng.standard_normal((6, 1, 1)),
        "b": rng.standard_normal((6, 1, 1)),
    }
    layers = agree(onnx_model(nodes, {"x": (1, 6, 4, 5)}, ["y"], weights)).optimized.layers
    _, split, norm, joined, relu, last = layers
    assert [type(layer) for layer in (split, joined)] == [Reshape, Reshape]
    assert isinstance(norm, Normalization)
    assert norm.axes == (1, 3)
    assert (relu.inputs, last.inputs) == ((joined.output,), (relu.output,))
