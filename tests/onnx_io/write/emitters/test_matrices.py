"""Matrices of many elements: fed as they are, and rounded in blocks when they are needed."""

import json
from itertools import pairwise
from pathlib import Path

import numpy as np
import onnxruntime
import pytest

from hexsim.graph.ir import Constant, Network, Tensor
from hexsim.layers import FullyConnected
from hexsim.onnx_io.float_engine import FloatEngine, Precision
from hexsim.onnx_io.write import writer
from hexsim.onnx_io.write.writer import write

ROWS, COLUMNS = 2500, 1024
rng = np.random.default_rng(8)
WEIGHT = rng.integers(-4000, 4000, (ROWS, COLUMNS)).astype(np.float32)
"""Whole numbers, odd ones above 2048 are no halves; their sums are exact in any order."""
BIAS = rng.integers(-2000, 2000, COLUMNS).astype(np.float32)
X = rng.choice(np.array([-1, 0, 1], np.float32), (2, ROWS)) / 16


def _network(bias: str | None = None) -> Network:
    layer = FullyConnected(
        name="f", inputs=("x",), outputs=("y",), weight="w", bias=bias, output_channels=COLUMNS
    )
    constants = {"w": Constant("w", WEIGHT.shape, WEIGHT), "b": Constant("b", BIAS.shape, BIAS)}
    tensors = {"x": Tensor("x", X.shape), "y": Tensor("y", (2, COLUMNS))}
    return Network("fc", (layer,), tensors, constants, ("x",), ("y",))


def _half(array: np.ndarray) -> np.ndarray:
    return array.astype(np.float16).astype(np.float32)


@pytest.mark.parametrize("opset", [8, 17])
@pytest.mark.parametrize("bias", [None, "b"])
@pytest.mark.parametrize("precision", ["float32", "half_storage", "float16"])
def test_blocks_add_up_to_the_whole(
    precision: Precision, bias: str | None, opset: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(writer, "DEFAULT_OPSET", opset)
    y = FloatEngine(_network(bias), precision=precision).run({"x": X})["y"]
    added = np.zeros(COLUMNS, np.float32) if bias is None else BIAS
    if precision == "float32":
        assert np.array_equal(y, X @ WEIGHT + added)
        return
    products = X @ _half(WEIGHT)
    if precision == "float16":
        products = _half(products)
    assert np.array_equal(y, _half(products + added))
    assert not np.array_equal(y, _half(_half(X @ WEIGHT) + added))


def test_blocks_are_parts_of_the_constant() -> None:
    network = _network()
    fed = write(network, precision="half_storage").fed
    assert [len(block) for block in fed.values()] == [1024, 1024, 452]
    assert all(np.shares_memory(block, network.constants["w"].value()) for block in fed.values())


def test_a_block_is_rounded_when_the_one_before_has_been_used(tmp_path: Path) -> None:
    """So that of a matrix one block of halves, and one of them as singles, is in memory."""
    written = write(_network(), precision="half_storage")
    options = onnxruntime.SessionOptions()
    options.enable_profiling, options.profile_file_prefix = True, str(tmp_path / "run")
    session = onnxruntime.InferenceSession(written.model.SerializeToString(), options)
    session.run(None, {"x": X, **written.fed})
    events = json.loads(Path(session.end_profiling()).read_text())
    ran = [event for event in events if event["name"].endswith("_kernel_time")]
    order = [event["args"]["op_name"] for event in sorted(ran, key=lambda event: event["ts"])]
    products = [at for at, name in enumerate(order) if name in ("Gemm", "MatMul")]
    assert len(products) == 3
    assert all(order[index + 1 : other] == ["Cast", "Cast"] for index, other in pairwise(products))
