"""LSTM and product with dynamic codes are floats here, and so are their judges.

MatMulNBits: products with weights of few bits in blocks.
"""

from typing import Any

import numpy as np
import onnx
import onnxruntime
import pytest
from onnx import helper

from hexsim.errors import HexsimError
from hexsim.layers import FullyConnected, Recurrent
from hexsim.onnx_io.read.reader import read, read_with_codes
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


BLOCKS_RNG = np.random.default_rng(8)


def normal(*shape: int) -> np.ndarray:
    return BLOCKS_RNG.standard_normal(shape).astype(np.float32)


def weights(depth: int, columns: int, bits: int, size: int) -> dict[str, np.ndarray]:
    """Codes and scales of blocks, zero points as codes and as floats, and a bias."""
    blocks = -(-depth // size)
    packed = -(-blocks * bits // 8)
    return {
        "w": BLOCKS_RNG.integers(0, 256, (columns, blocks, size * bits // 8), np.uint8),
        "s": BLOCKS_RNG.uniform(0.01, 0.1, columns * blocks).astype(np.float32),
        "z": BLOCKS_RNG.integers(0, 256, columns * packed, np.uint8),
        "f": BLOCKS_RNG.uniform(0, 2**bits, columns * blocks).astype(np.float32),
        "b": normal(columns),
    }


def product(inputs: str, depth: int, columns: int, bits: int, size: int) -> Any:
    return fused("MatMulNBits", inputs, K=depth, N=columns, bits=bits, block_size=size)


@pytest.mark.parametrize(
    ("inputs", "bits"),
    [
        *((inputs, bits) for inputs in ("x w s", "x w s z", "x w s z - b") for bits in (4, 8)),
        ("x w s f", 4),  # onnxruntime takes zero points of 8 bits as bytes only
    ],
)
@pytest.mark.parametrize(("depth", "size"), [(32, 16), (48, 32), (96, 32)])
def test_real_weights(inputs: str, depth: int, size: int, bits: int) -> None:
    if bits == 8 and onnxruntime.__version__.startswith("1.20."):
        pytest.skip("onnxruntime 1.20 has no weights of 8 bits")
    arrays = weights(depth, 6, bits, size)
    feed = {"x": normal(1, 5, depth)}
    given = {name: array for name, array in arrays.items() if name in inputs.split()}
    model = model_of([product(inputs, depth, 6, bits, size)], feed, given, "y")
    network = assert_same(model, feed)
    assert sum(isinstance(layer, FullyConnected) for layer in network.layers) == 1


def test_a_code_by_hand() -> None:
    """The lowest four bits come first: 0xF8 is 8, then 15; eight is the middle."""
    codes = np.zeros((1, 1, 8), np.uint8)
    codes[0, 0, 0] = 0xF8
    given = {"w": codes, "s": np.array([0.5], np.float32)}
    model = model_of([product("x w s", 16, 1, 4, 16)], {"x": normal(1, 16)}, given, "y")
    network = read(model)
    (layer,) = (layer for layer in network.layers if isinstance(layer, FullyConnected))
    weight = network.constants[layer.weight].value().reshape(-1)
    assert weight.tolist() == [0.0, 3.5] + [-4.0] * 14


def test_the_report_says_that_codes_are_made_anew() -> None:
    given = {n: a for n, a in weights(32, 6, 4, 16).items() if n in "w s"}
    model = model_of([product("x w s", 32, 6, 4, 16)], {"x": normal(1, 32)}, given, "y")
    (note,) = read_with_codes(model).report.notes
    assert note == (
        "weights of 4 bits in blocks (MatMulNBits) are taken as floats, which are quantised anew"
    )


def test_groups_in_an_order_of_their_own_stay() -> None:
    given = {n: a for n, a in weights(32, 6, 4, 16).items() if n in "w s"}
    given["g"] = np.repeat(np.arange(2, dtype=np.int32), 16)[::-1].copy()
    model = model_of([product("x w s - g", 32, 6, 4, 16)], {"x": normal(1, 32)}, given, "y")
    model.graph.output[0].CopyFrom(helper.make_tensor_value_info("y", 1, (1, 6)))
    (left,) = read_with_codes(model).report.opaque
    assert left.reason == "its weights have groups in an order of their own (g_idx)"


@pytest.mark.parametrize(
    ("name", "array", "sentence"),
    [
        ("w", np.zeros((6, 2, 7), np.uint8), "'w' holds 84 numbers of uint8, not 96 of uint8"),
        ("s", np.zeros(11, np.float32), "'s' holds 11 numbers of float32, not 12 of float32"),
        ("z", np.zeros(7, np.uint8), "'z' holds 7 numbers of uint8, not 6 of uint8"),
    ],
)
def test_arrays_of_other_sizes_are_refused(name: str, array: np.ndarray, sentence: str) -> None:
    given = {n: a for n, a in weights(32, 6, 4, 16).items() if n in "w s z"} | {name: array}
    model = model_of([product("x w s z", 32, 6, 4, 16)], {"x": normal(1, 32)}, given, "y")
    with pytest.raises(HexsimError, match=f"node 'MatMulNBits' .*{sentence}"):
        read(model)
