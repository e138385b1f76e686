"""LSTM and product with dynamic codes are floats here, and so are their judges."""

import numpy as np
import onnx
import pytest
from onnx import helper

from hexsim.layers import FullyConnected, Recurrent
from hexsim.onnx_io.read.reader import read_with_codes
from tests.onnx_io.read.expansions.judged import assert_same, dynamic_codes, fused, model_of

RNG = np.random.default_rng(5)
UNSIMULATED = "the codes that its activations get from the range of each input are not simulated"


def notes(model: onnx.ModelProto) -> list[str]:
    """What the reader says of codes that it does not simulate."""
    return [note for note in read_with_codes(model).report.notes if "not simulated" in note]


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
    model = model_of([node], feed, weights, "y h")
    network = assert_same(model, feed, judge=judge)
    assert notes(model) == [
        "node 'DynamicQuantizeLSTM' (com.microsoft.DynamicQuantizeLSTM) is computed in real "
        f"numbers: its weights are dequantised, and {UNSIMULATED}"
    ]
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
    assert notes(model) == [
        "node 'codes' (DynamicQuantizeLinear) is left out: the codes that it makes from the range "
        "of each input are not simulated",
        "node 'MatMulIntegerToFloat' (com.microsoft.MatMulIntegerToFloat) is computed in real "
        f"numbers: its weights are dequantised, and {UNSIMULATED}",
    ]
    assert [type(layer) for layer in network.layers] == [FullyConnected]


def test_a_sentence_names_three_nodes_and_counts_the_others() -> None:
    weights = {"w": np.ones((8, 8), np.int8), "ws": np.float32(0.1), "wz": np.int8(0)}
    feed = {"x": RNG.standard_normal((3, 8)).astype(np.float32)}
    nodes = []
    for number in range(5):
        node = fused("DynamicQuantizeMatMul", f"{'xabcd'[number]} w ws wz", "abcdy"[number])
        node.name = f"product{number}"
        nodes.append(node)
    (note,) = notes(model_of(nodes, feed, weights, "y"))
    assert note.startswith(
        "each of the nodes 'product0', 'product1', 'product2' and 2 more "
        "(com.microsoft.DynamicQuantizeMatMul) is computed in real numbers"
    )


def test_products_of_codes_of_the_file_need_no_sentence() -> None:
    weights = {
        "w": np.ones((8, 6), np.int8), "ws": np.float32(0.1), "wz": np.int8(0),
        "xs": np.float32(0.02), "xz": np.uint8(128),
    }  # fmt: skip
    feed = {"x": RNG.standard_normal((3, 8)).astype(np.float32)}
    codes = helper.make_node("QuantizeLinear", ["x", "xs", "xz"], ["xq"])
    product = fused("MatMulIntegerToFloat", "xq w xs ws xz wz")
    assert notes(model_of([codes, product], feed, weights, "y")) == []
