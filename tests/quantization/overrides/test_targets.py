"""A network that onnxruntime quantised has the same encodings here, and nearly its answers."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import onnx
import onnxruntime
import pytest
from onnx import helper, numpy_helper
from onnxruntime.quantization import CalibrationDataReader, QuantFormat, QuantType, quantize_static

import hexsim
from hexsim.dlc import Container, write
from hexsim.dlc.loading import load_container
from hexsim.layers import Convolution
from hexsim.quantization.encodings import AxisEncoding
from hexsim.quantization.model import Model
from hexsim.quantization.overrides import IntegerOverride, Overrides, Range

SHAPE = (1, 3, 12, 12)


class Inputs(CalibrationDataReader):  # type: ignore[misc]
    def __init__(self) -> None:
        self._left: Iterator[np.ndarray] = iter(inputs())

    def get_next(self) -> dict[str, np.ndarray] | None:
        value = next(self._left, None)
        return None if value is None else {"x": value}


def inputs() -> list[np.ndarray]:
    rng = np.random.default_rng(5)
    return [rng.standard_normal(SHAPE, dtype=np.float32) for _ in range(4)]


def float_model() -> onnx.ModelProto:
    """Conv-Relu, depthwise Conv-Relu6, a residual sum, pooling, flatten, Gemm."""
    rng = np.random.default_rng(0)
    shapes = {"w1": (8, 3, 3, 3), "b1": (8,), "w2": (8, 1, 3, 3), "w3": (5, 8), "b3": (5,)}
    arrays = {name: 0.4 * rng.standard_normal(s, dtype=np.float32) for name, s in shapes.items()}
    arrays |= {"low": np.float32(0), "high": np.float32(6)}
    nodes = [
        helper.make_node("Conv", ["x", "w1", "b1"], ["c1"], "conv1", pads=[1] * 4),
        helper.make_node("Relu", ["c1"], ["r1"], "relu1"),
        helper.make_node("Conv", ["r1", "w2"], ["c2"], "conv2", pads=[1] * 4, group=8),
        helper.make_node("Clip", ["c2", "low", "high"], ["r2"], "relu2"),
        helper.make_node("Add", ["r1", "r2"], ["a"], "add"),
        helper.make_node("MaxPool", ["a"], ["p"], "pool", kernel_shape=[2, 2], strides=[2, 2]),
        helper.make_node("GlobalAveragePool", ["p"], ["g"], "mean"),
        helper.make_node("Flatten", ["g"], ["f"], "flat"),
        helper.make_node("Gemm", ["f", "w3", "b3"], ["y"], "fc", transB=1),
    ]
    kind = onnx.TensorProto.FLOAT
    graph = helper.make_graph(
        nodes,
        "net",
        [helper.make_tensor_value_info("x", kind, SHAPE)],
        [helper.make_tensor_value_info("y", kind, (1, 5))],
        [numpy_helper.from_array(np.asarray(a), n) for n, a in arrays.items()],
    )
    return helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=8)


VARIANTS: dict[str, dict[str, Any]] = {
    "u8": {"activation_type": QuantType.QUInt8, "weight_type": QuantType.QUInt8},
    "s8 per channel": {
        "activation_type": QuantType.QInt8,
        "weight_type": QuantType.QInt8,
        "per_channel": True,
    },
    "u8 with relus": {
        "activation_type": QuantType.QUInt8,
        "weight_type": QuantType.QInt8,
        "extra_options": {"QDQKeepRemovableActivations": True},
    },
}


@pytest.fixture(scope="module", params=VARIANTS)
def path(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A model in QDQ format, made by onnxruntime."""
    folder = tmp_path_factory.mktemp("qdq")
    onnx.save(float_model(), folder / "float.onnx")
    quantize_static(
        folder / "float.onnx",
        folder / "qdq.onnx",
        Inputs(),
        quant_format=QuantFormat.QDQ,
        **VARIANTS[request.param],
    )
    return folder / "qdq.onnx"


@pytest.fixture(scope="module")
def source(path: Path) -> Container:
    return load_container(path)


@pytest.fixture(scope="module")
def quantized(source: Container) -> Model:
    return hexsim.quantize(source.model, inputs(), overrides=source.overrides)


def test_the_float_network_has_its_layers_back(source: Container) -> None:
    layers = source.model.network.layers
    names = [layer.name for layer in layers]
    assert names == ["conv1", "conv2", "add", "pool", "mean", "fc"]
    clamps = [layer.clamp for layer in layers if isinstance(layer, Convolution)]
    assert [(c.low, c.high) for c in clamps] == [(0.0, np.inf), (0.0, 6.0)]


def test_every_code_of_the_file_is_taken(quantized: Model) -> None:
    """But those between a convolution and its activation, which are one layer here."""
    left = {
        override.key: override for override in quantized.overrides if override.outcome != "applied"
    }
    assert {key.removesuffix("_DequantizeLinear_Output") for key in left} <= {"c1", "c2"}
    assert all("absorbed into layer 'conv" in override.reason for override in left.values())
    own = {origin for origin in quantized.origins.values() if not origin.startswith("that of")}
    assert own == {"QDQ node"}


def test_scales_and_zero_points_are_those_of_the_file(path: Path, quantized: Model) -> None:
    """Read from the file by its own names: NAME_scale, NAME_zero_point, in file order."""
    stored = {i.name: numpy_helper.to_array(i) for i in onnx.load(path).graph.initializer}
    encodings = {**quantized.activations, **quantized.parameters}
    for ours, theirs in {"x": "x", "g": "g", "y": "y", "p": "a"}.items():
        encoding = encodings[ours]
        zero = stored[f"{theirs}_zero_point"]
        lowest = np.iinfo(zero.dtype).min
        assert encoding.delta == pytest.approx(float(stored[f"{theirs}_scale"]))
        assert encoding.offset == lowest - int(zero)
    for name in ("w1", "w2", "w3"):
        encoding = encodings[f"{name}_DequantizeLinear_Output"]
        scale, integers = stored[f"{name}_scale"], stored[f"{name}_quantized"]
        deltas = encoding.deltas if isinstance(encoding, AxisEncoding) else encoding.delta
        np.testing.assert_allclose(deltas, scale, rtol=1e-6)
        codes = quantized.codes(f"{name}_DequantizeLinear_Output")
        order = (2, 3, 1, 0) if integers.ndim == 4 else (1, 0)
        np.testing.assert_array_equal(codes, integers.transpose(order))
    assert "b1" not in encodings, "an int32 bias is at the accumulator's scale"


def test_answers_are_those_of_onnxruntime(path: Path, quantized: Model) -> None:
    x = np.random.default_rng(9).standard_normal(SHAPE, dtype=np.float32)
    options = onnxruntime.SessionOptions()
    # Left to fuse, it multiplies u8 by s8 on CPUs without VNNI in sums of 16 bits, which saturate.
    options.graph_optimization_level = onnxruntime.GraphOptimizationLevel.ORT_DISABLE_ALL
    session = onnxruntime.InferenceSession(path, options, providers=["CPUExecutionProvider"])
    (want,) = session.run(None, {"x": x})
    result = hexsim.simulate(quantized, inputs=x, chip="sd835")
    assert result.outputs is not None
    step = quantized.activations["y"].delta
    assert np.ptp(want) > 20 * step
    assert np.abs(result.outputs["y"] - want).max() <= 2.01 * step


def product_of_codes(*nodes: onnx.NodeProto) -> Model:
    """The product of x in codes with a weight in codes of each output, which `nodes` compute."""
    arrays = {
        "xs": np.float32(0.5), "xz": np.uint8(128),
        "wc": np.int8([[1, -2, 3], [4, 5, -6]]), "ws": np.float32([0.25, 2]),
        "wz": np.zeros(2, np.int8),
    }  # fmt: skip
    pair = [
        helper.make_node("QuantizeLinear", ["x", "xs", "xz"], ["xq"]),
        helper.make_node("DequantizeLinear", ["xq", "xs", "xz"], ["xd"]),
        helper.make_node("DequantizeLinear", ["wc", "ws", "wz"], ["w"], axis=0),
    ]
    graph = helper.make_graph(
        [*pair, *nodes],
        "net",
        [helper.make_tensor_value_info("x", onnx.TensorProto.FLOAT, (4, 3))],
        [helper.make_tensor_value_info("y", onnx.TensorProto.FLOAT, None)],
        [numpy_helper.from_array(np.asarray(a), n) for n, a in arrays.items()],
    )
    imports = [helper.make_opsetid("", 17)]
    model = hexsim.load(helper.make_model(graph, opset_imports=imports, ir_version=8))
    return hexsim.quantize(model, [np.ones((4, 3), np.float32)])


def test_a_weight_that_is_transposed_first_keeps_its_codes() -> None:
    transpose = helper.make_node("Transpose", ["w"], ["t"], perm=[1, 0])
    model = product_of_codes(transpose, helper.make_node("MatMul", ["xd", "t"], ["y"]))
    np.testing.assert_array_equal(model.codes("t"), [[1, 4], [-2, 5], [3, -6]])
    assert ("w", "applied") in {(o.key, o.outcome) for o in model.overrides}


def test_a_weight_with_other_numbers_than_the_file_s_says_that_its_codes_are_ignored() -> None:
    nodes = helper.make_node("Exp", ["w"], ["e"]), helper.make_node("Transpose", ["e"], ["t"])
    model = product_of_codes(*nodes, helper.make_node("MatMul", ["xd", "t"], ["y"]))
    outcomes = {outcome.key: outcome for outcome in model.overrides}
    assert outcomes["w"].outcome == "ignored"
    assert outcomes["w"].reason == "no layer has its numbers as they are in the file"


def test_factors_of_channels_multiply_the_steps_of_the_weight_that_absorbs_them(
    tmp_path: Path,
) -> None:
    """The layer multiplies by the codes of the file, in memory and after the file is read back."""
    rng, x = np.random.default_rng(3), np.linspace(-3, 3, 12, dtype=np.float32).reshape(4, 3)
    weight, factors = rng.standard_normal((3, 2)), np.float32([-2, 0.01])
    nodes = [
        helper.make_node("MatMul", ["x", "w"], ["m"]),
        helper.make_node("Mul", ["m", "k"], ["y"]),
    ]
    arrays = {"w": weight.astype(np.float32), "k": factors}
    graph = helper.make_graph(
        nodes,
        "net",
        [helper.make_tensor_value_info("x", onnx.TensorProto.FLOAT, (4, 3))],
        [helper.make_tensor_value_info("y", onnx.TensorProto.FLOAT, None)],
        [numpy_helper.from_array(a, n) for n, a in arrays.items()],
    )
    imports = [helper.make_opsetid("", 17)]
    onnx.save(helper.make_model(graph, opset_imports=imports, ir_version=8), tmp_path / "m.onnx")
    given = Overrides({}, {"w": IntegerOverride(8, (Range(scale=0.02, offset=-128),), True)})
    source = load_container(tmp_path / "m.onnx", overrides=given)
    write(tmp_path / "m.dlc", source.model, source.metadata, source.overrides)
    stored = load_container(tmp_path / "m.dlc")
    for model, overrides in (
        (hexsim.load(tmp_path / "m.onnx"), given),
        (stored.model, stored.overrides),
    ):
        encoding = hexsim.quantize(model, [x], overrides=overrides).encoding("w")
        assert isinstance(encoding, AxisEncoding)
        assert encoding.deltas == pytest.approx([0.04, 0.0002])
