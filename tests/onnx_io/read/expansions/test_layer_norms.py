"""Layer norms with the sums before them."""

import numpy as np
import pytest
from onnx import helper

from hexsim.layers import Normalization
from hexsim.onnx_io.read.reader import read_with_codes
from tests.onnx_io.read.expansions.judged import assert_same, fused, model_of

RNG = np.random.default_rng(1)


def normal(*shape: int) -> np.ndarray:
    return RNG.standard_normal(shape).astype(np.float32)


FEED = {"x": normal(2, 5, 24), "s": normal(2, 5, 24)}
WEIGHTS = {"g": normal(24), "b": normal(24), "c": normal(24)}


@pytest.mark.parametrize("opset", [13, 17, 18])
@pytest.mark.parametrize(
    ("operator", "inputs", "outputs"),
    [
        ("SkipLayerNormalization", "x s g", "y"),
        ("SkipLayerNormalization", "x s g b c", "y"),
        ("SkipLayerNormalization", "x s g b", "y - - z"),
        ("SkipSimplifiedLayerNormalization", "x s g", "y"),
        ("SkipSimplifiedLayerNormalization", "x s g c", "y - - z"),
    ],
)
def test_sums_and_a_norm(operator: str, inputs: str, outputs: str, opset: int) -> None:
    weights = {name: WEIGHTS[name] for name in inputs.split()[2:]}
    node = fused(operator, inputs, outputs, epsilon=1e-3)
    model = model_of([node], FEED, weights, outputs.replace("-", ""), opset)
    network = assert_same(model, FEED)
    assert sum(isinstance(layer, Normalization) for layer in network.layers) == 1


def test_without_a_mean() -> None:
    node = helper.make_node("SimplifiedLayerNormalization", ["x", "g"], ["y"], epsilon=1e-3)
    feed = {"x": FEED["x"]}
    network = assert_same(model_of([node], feed, {"g": WEIGHTS["g"]}, "y"), feed)
    assert [layer.type for layer in network.layers] == ["normalization"]


def test_one_whose_mean_is_read_stays() -> None:
    node = fused("SkipLayerNormalization", "x s g", "y m")
    model = model_of([node], FEED, {"g": WEIGHTS["g"]}, "y")
    model.graph.output[0].CopyFrom(helper.make_tensor_value_info("y", 1, (2, 5, 24)))
    model.graph.value_info.append(helper.make_tensor_value_info("m", 1, (2, 5, 1)))
    report = read_with_codes(model).report
    assert [node.operator for node in report.opaque] == ["com.microsoft.SkipLayerNormalization"]
