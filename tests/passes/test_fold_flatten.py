"""FullyConnected layers read images directly; their weights' rows follow the stored order."""

from collections.abc import Callable

import numpy as np
import onnx
import pytest
from onnx import helper

from hexsim.layers import FullyConnected

Make = Callable[..., onnx.ModelProto]
node = helper.make_node
rng = np.random.default_rng(6)
WEIGHTS = {"m": rng.standard_normal((3 * 4 * 5, 7)), "k": rng.standard_normal((3 * 4 * 5, 2))}
FLATTENS = {
    "Flatten": node("Flatten", ["x"], ["a"], name="flat"),
    "Reshape": node("Reshape", ["x", "s"], ["a"], name="flat"),
}


@pytest.mark.parametrize("operator", FLATTENS)
def test_the_rows_are_permuted(operator: str, onnx_model: Make, agree: Callable) -> None:
    nodes = [FLATTENS[operator], node("Gemm", ["a", "m"], ["y"], name="fc")]
    weights = {"m": WEIGHTS["m"], "s": [2, -1]}
    optimized = agree(onnx_model(nodes, {"x": (2, 3, 4, 5)}, ["y"], weights)).optimized
    (layer,) = optimized.layers
    assert isinstance(layer, FullyConnected)
    assert layer.inputs == ("x",)
    assert "flat" in layer.fused
    rows = WEIGHTS["m"].reshape(3, 4, 5, 7).transpose(1, 2, 0, 3).reshape(60, 7)
    np.testing.assert_allclose(optimized.constants[layer.weight].value(), rows, rtol=1e-6)


def test_several_readers(onnx_model: Make, agree: Callable) -> None:
    nodes = [
        FLATTENS["Flatten"],
        node("Gemm", ["a", "m"], ["y"]),
        node("Gemm", ["a", "k"], ["z"]),
        node("Gemm", ["a", "m"], ["t"]),
    ]
    optimized = agree(onnx_model(nodes, {"x": (2, 3, 4, 5)}, ["y", "z", "t"], WEIGHTS)).optimized
    assert [type(layer) for layer in optimized.layers] == [FullyConnected] * 3


@pytest.mark.parametrize("case", ["output", "other reader", "batch joined"])
def test_what_stays(case: str, onnx_model: Make, agree: Callable) -> None:
    nodes, outputs, shape = {
        "output": ([FLATTENS["Flatten"]], ["y", "a"], (2, 3, 4, 5)),
        "other reader": (
            [FLATTENS["Flatten"], node("Tanh", ["a"], ["t"])],
            ["y", "t"],
            (2, 3, 4, 5),
        ),
        "batch joined": ([node("Reshape", ["x", "s"], ["a"])], ["y"], (2, 6, 4, 5)),
    }[case]
    nodes = [*nodes, node("Gemm", ["a", "m"], ["y"])]
    weights = {"m": WEIGHTS["m"], "s": [4, 60]}
    optimized = agree(onnx_model(nodes, {"x": shape}, outputs, weights)).optimized
    assert "reshape" in {layer.type for layer in optimized.layers}
