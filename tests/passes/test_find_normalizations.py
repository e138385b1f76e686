"""Normalisations spelled in several operators become one layer, equal to onnxruntime."""

from collections.abc import Callable

import numpy as np
import onnx
import pytest
from onnx import helper

from hexsim.layers import Normalization
from hexsim.passes.normalizations import _FORMULAS, _fitted

Make = Callable[..., onnx.ModelProto]
node = helper.make_node
rng = np.random.default_rng(8)
X = {"x": (2, 5, 12)}
EPSILON, TWO, TINY = {"e": 1e-3}, {"two": 2.0}, {"tiny": 1e-12}
G, B = {"g": rng.standard_normal(12)}, {"b": rng.standard_normal(12)}


def mean(source: str, result: str, axes: list[int] | None = None) -> onnx.NodeProto:
    return node("ReduceMean", [source], [result], axes=axes or [-1])


AFFINE = [node("Mul", ["n", "g"], ["s"]), node("Add", ["s", "b"], ["y"])]
ROOT = [node("Add", ["v", "e"], ["ve"]), node("Sqrt", ["ve"], ["r"])]
TORCH = [
    mean("x", "m"),
    node("Sub", ["x", "m"], ["d"], name="first"),
    node("Pow", ["d", "two"], ["q"]),
    mean("q", "v"),
    *ROOT,
    node("Div", ["d", "r"], ["n"]),
]
RMS = [
    node("Mul", ["x", "x"], ["q"]),
    mean("q", "v"),
    *ROOT,
    node("Reciprocal", ["r"], ["i"]),
    node("Mul", ["x", "i"], ["n"]),
]
SPELLED = {
    "layer norm": (TORCH, "deviation", 1e-3),
    "layer norm with two differences": (
        [
            mean("x", "m"),
            node("Sub", ["x", "m"], ["d"]),
            node("Sub", ["x", "m"], ["f"]),
            node("Mul", ["f", "f"], ["q"]),
            mean("q", "v"),
            *ROOT,
            node("Div", ["d", "r"], ["n"]),
        ],
        "deviation",
        1e-3,
    ),
    "layer norm by the mean of squares": (
        [
            mean("x", "m"),
            node("Mul", ["m", "m"], ["mm"]),
            node("Mul", ["x", "x"], ["xx"]),
            mean("xx", "qq"),
            node("Sub", ["qq", "mm"], ["v"]),
            *ROOT,
            node("Sub", ["x", "m"], ["d"]),
            node("Div", ["d", "r"], ["n"]),
        ],
        "deviation",
        1e-3,
    ),
    "rms norm": (RMS, "mean_square", 1e-3),
    "l2 norm": (
        [
            node("ReduceSumSquare", ["x"], ["v"], axes=[-1]),
            *ROOT,
            node("Div", ["x", "r"], ["n"]),
        ],
        "length",
        1e-3,
    ),
    "l2 norm held above nothing": (
        [
            node("ReduceL2", ["x"], ["l"], axes=[-1]),
            node("Clip", ["l", "tiny"], ["c"]),
            node("Div", ["x", "c"], ["n"]),
        ],
        "length",
        0.0,
    ),
}


@pytest.mark.parametrize("name", SPELLED)
def test_spellings(name: str, onnx_model: Make, agree: Callable) -> None:
    nodes, kind, epsilon = SPELLED[name]
    weights = {**EPSILON, **TWO, **TINY, **G, **B}
    model = onnx_model([*nodes, *AFFINE], X, ["y"], weights)
    (layer,) = agree(model).optimized.layers
    assert isinstance(layer, Normalization)
    assert (layer.kind, layer.axes) == (kind, (2,))
    assert layer.epsilon == pytest.approx(epsilon, rel=1e-5)
    assert layer.scale is not None
    assert layer.shift is not None


def test_an_instance_norm_of_images(onnx_model: Make, agree: Callable) -> None:
    nodes = [
        mean("x", "m", [2, 3]),
        node("Sub", ["x", "m"], ["d"]),
        node("Mul", ["d", "d"], ["q"]),
        mean("q", "v", [2, 3]),
        *ROOT,
        node("Div", ["d", "r"], ["y"]),
    ]
    (layer,) = agree(onnx_model(nodes, {"x": (1, 3, 8, 9)}, ["y"], EPSILON)).optimized.layers
    assert isinstance(layer, Normalization)
    assert layer.axes == (1, 2)


def test_other_things_are_none(onnx_model: Make, agree: Callable) -> None:
    cases = {
        "another epsilon": [*TORCH[:4], node("Sqrt", ["v"], ["r"]), node("Add", ["r", "e"], ["w"])],
        "no root": [*TORCH[:4], node("Add", ["v", "e"], ["w"])],
    }
    for nodes in cases.values():
        model = onnx_model([*nodes, node("Div", ["d", "w"], ["y"])], X, ["y"], {**EPSILON, **TWO})
        layers = agree(model).optimized.layers
        assert not any(isinstance(layer, Normalization) for layer in layers)


def test_what_is_left_without_a_mean_that_others_read(onnx_model: Make, agree: Callable) -> None:
    model = onnx_model([*TORCH, *AFFINE], X, ["y", "m"], {**EPSILON, **TWO, **G, **B})
    *_, last = agree(model).optimized.layers
    assert isinstance(last, Normalization)
    assert (last.kind, last.inputs) == ("mean_square", ("d",))


def test_a_vanishing_result_is_no_norm() -> None:
    """The square of its ratio to the input is zero in float64."""
    formula = _FORMULAS["length"]
    assert _fitted(lambda x: x * 1e-200, formula, 4) is None
    assert _fitted(lambda x: x * 5e-324, formula, 4) is None
