"""LSTM and product with dynamic codes are floats here, and so are their judges."""

import numpy as np
import pytest
from onnx import helper

from hexsim.layers import FullyConnected, Recurrent
from tests.onnx_io.expansions.judged import assert_same, dynamic_codes, fused, model_of

RNG = np.random.default_rng(5)


@pytest.mark.parametrize(("directions", "columns"), [(1, False), (2, False), (2, True)])
def test_lstm(directions: int, columns: bool) -> None:
    hidden, size = 6, 8
    shape = (directions, 4 * hidden) if columns else (directions,)
    weights = {
        "w": RNG.integers(-127, 128, (directions, size, 4 * hidden)).astype(np.int8),
        "r": RNG.integers(-127, 128, (directions, hidden, 4 * hidden)).astype(np.int8),
        "b": RNG.normal(0, 0.2, (directions, 8 * hidden)).astype(np.float32),
        **{name: RNG.uniform(0.001, 0.004, shape).astype(np.float32) for name in ("ws", "rs")},
        **{name: np.zeros(shape, np.int8) for name in ("wz", "rz")},
    }
    feed = {"x": RNG.standard_normal((5, 2, size)).astype(np.float32)}
    direction = "forward" if directions == 1 else "bidirectional"
    inputs = "x w r b - - - - ws wz rs rz"
    node = fused("DynamicQuantizeLSTM", inputs, "y h", hidden_size=hidden, direction=direction)
    floats = {"b": weights["b"]}
    for codes, scale in (("w", "ws"), ("r", "rs")):
        spread = weights[scale].reshape(directions, 1, -1)
        floats[codes] = (weights[codes] * spread).transpose(0, 2, 1).astype(np.float32)
    lstm = helper.make_node("LSTM", ["x", "w", "r", "b"], ["y", "h"])
    lstm.attribute.extend(node.attribute)
    judge = model_of([lstm], feed, floats, "y h")
    network = assert_same(model_of([node], feed, weights, "y h"), feed, judge=judge)
    assert sum(isinstance(layer, Recurrent) for layer in network.layers) == 1


@pytest.mark.parametrize("columns", [False, True])
def test_a_product_that_ends_in_floats(columns: bool) -> None:
    shape = (6,) if columns else ()
    weights = {
        "w": RNG.integers(-127, 128, (8, 6)).astype(np.int8),
        "ws": np.full(shape, 0.004, np.float32),
        "wz": np.full(shape, 0 if columns else 3, np.int8),
        "b": RNG.standard_normal(6).astype(np.float32),
    }
    feed = {"x": RNG.standard_normal((3, 8)).astype(np.float32)}
    node = fused("MatMulIntegerToFloat", "xq w xs ws xz wz b")
    real = (weights["w"].astype(np.float32) - weights["wz"]) * weights["ws"]
    product = helper.make_node("Gemm", ["x", "w", "b"], ["y"])
    judge = model_of([product], feed, {"w": real, "b": weights["b"]}, "y")
    model = model_of([dynamic_codes(), node], feed, weights, "y")
    network = assert_same(model, feed, judge=judge)
    assert [type(layer) for layer in network.layers] == [FullyConnected]
