"""MatMulNBits: products with weights of few bits in blocks."""

from typing import Any

import numpy as np
import onnxruntime
import pytest
from onnx import helper

from hexsim.errors import HexsimError
from hexsim.layers import FullyConnected
from hexsim.onnx_io.read.reader import read, read_with_codes
from tests.onnx_io.read.expansions.judged import assert_same, fused, model_of

RNG = np.random.default_rng(8)


def normal(*shape: int) -> np.ndarray:
    return RNG.standard_normal(shape).astype(np.float32)


def weights(depth: int, columns: int, bits: int, size: int) -> dict[str, np.ndarray]:
    """Codes and scales of blocks, zero points as codes and as floats, and a bias."""
    blocks = -(-depth // size)
    packed = -(-blocks * bits // 8)
    return {
        "w": RNG.integers(0, 256, (columns, blocks, size * bits // 8), np.uint8),
        "s": RNG.uniform(0.01, 0.1, columns * blocks).astype(np.float32),
        "z": RNG.integers(0, 256, columns * packed, np.uint8),
        "f": RNG.uniform(0, 2**bits, columns * blocks).astype(np.float32),
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
