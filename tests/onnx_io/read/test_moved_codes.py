"""Nodes on codes are the same nodes on real numbers, up to the network's inputs and outputs."""

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import onnx
import onnxruntime
import pytest
from onnx import TensorProto, helper, numpy_helper

import hexsim
from hexsim.layers import Opaque
from hexsim.quantization.model import Model

SCALE, ZERO = np.float32(0.25), 3
SHAPE = (1, 2, 4, 4)
ARRAYS = {
    "s": SCALE,
    "z": np.uint8(ZERO),
    "other": np.float32(0.5),
    "low": np.uint8(2),
    "high": np.uint8(9),
    "seven": np.uint8(7),
    "pads": np.array([0, 0, 1, 0, 0, 0, 1, 2]),
    "scales": np.array([1, 1, 2, 2], np.float32),
    "flat": np.array([1, -1]),
    "axes": np.array([2, 3]),
    "integers": np.arange(16, dtype=np.uint8).reshape(1, 1, 4, 4),
    "w": np.random.default_rng(3).uniform(-0.5, 0.5, (3, 2, 3, 3)).astype(np.float32),
}


def node(op: str, inputs: str, outputs: str, **attributes: Any) -> onnx.NodeProto:
    names = [name if name != "-" else "" for name in inputs.split()]
    return helper.make_node(op, names, outputs.split(), f"n_{outputs.split()[0]}", **attributes)


def model(
    nodes: Sequence[onnx.NodeProto],
    kinds: tuple[int, int] = (TensorProto.FLOAT, TensorProto.FLOAT),
    arrays: dict[str, Any] | None = None,
) -> onnx.ModelProto:
    graph = helper.make_graph(
        nodes,
        "codes",
        [helper.make_tensor_value_info("x", kinds[0], SHAPE)],
        [helper.make_tensor_value_info("y", kinds[1], None)],
        [numpy_helper.from_array(np.asarray(a), n) for n, a in (ARRAYS | (arrays or {})).items()],
    )
    opsets = [helper.make_opsetid("", 18)]
    return helper.make_model(graph, opset_imports=opsets, ir_version=9)


def between(*nodes: onnx.NodeProto) -> onnx.ModelProto:
    """Nodes that make m of the codes q of x."""
    ends = node("QuantizeLinear", "x s z", "q"), node("DequantizeLinear", "m s z", "y")
    return model([ends[0], *nodes, ends[1]])


def asked(proto: onnx.ModelProto, x: np.ndarray) -> np.ndarray:
    """What onnxruntime answers, node by node as they stand in the file."""
    options = onnxruntime.SessionOptions()
    options.graph_optimization_level = onnxruntime.GraphOptimizationLevel.ORT_DISABLE_ALL
    session = onnxruntime.InferenceSession(proto.SerializeToString(), options)
    return session.run(None, {"x": x})[0]


def opaque(model: Model) -> list[str]:
    return [layer.op_type for layer in model.network.layers if isinstance(layer, Opaque)]


def answer(model: Model, x: np.ndarray, runtime: str) -> np.ndarray:
    ready = model if runtime == "cpu" else hexsim.quantize(model, [{"x": x}])
    (answers,) = hexsim.run(ready, [{"x": x}], runtime=runtime, chip="sd835")
    return answers["y"]


MOVERS = {
    "pad": [node("Pad", "q pads seven", "m")],
    "pad with code zero": [node("Pad", "q pads", "m")],
    "pad with edges": [node("Pad", "q pads", "m", mode="edge")],
    "resize": [
        node("Resize", "q - scales", "m", mode="nearest", nearest_mode="floor",
             coordinate_transformation_mode="asymmetric"),
    ],
    "clip": [node("Clip", "q low high", "m")],
    "clip below": [node("Clip", "q - high", "m")],
    "maximum of all": [node("ReduceMax", "q axes", "m")],
    "minimum of all": [node("ReduceMin", "q axes", "m")],
    "pooling": [node("MaxPool", "q", "m", kernel_shape=[2, 2], pads=[1, 1, 0, 0])],
    "parts": [
        node("Split", "q", "a b", axis=1, num_outputs=2),
        node("Concat", "b a", "m", axis=2),
    ],
    "constant joined": [node("Concat", "q integers", "m", axis=1)],
    "larger": [node("Max", "q integers", "m")],
    "smaller": [node("Min", "q seven", "m")],
    "reshape and transpose": [
        node("Transpose", "q", "t", perm=[0, 2, 3, 1]), node("Reshape", "t flat", "m"),
    ],
    "one after the other": [
        node("Clip", "q low high", "c"), node("Pad", "c pads seven", "p"),
        node("MaxPool", "p", "m", kernel_shape=[2, 2]),
    ],
}  # fmt: skip


@pytest.mark.parametrize("runtime", ["cpu", "dsp"])
@pytest.mark.parametrize("case", MOVERS)
def test_nodes_on_codes_are_layers(case: str, runtime: str) -> None:
    if case in ("larger", "smaller") and onnxruntime.__version__.startswith("1.20."):
        pytest.skip("onnxruntime 1.20 has no Max and Min of bytes")
    proto = between(*MOVERS[case])
    codes = np.random.default_rng(1).integers(0, 30, SHAPE)
    x = ((codes - ZERO) * SCALE).astype(np.float32)
    model = hexsim.load(proto)
    assert opaque(model) == []
    np.testing.assert_allclose(answer(model, x, runtime), asked(proto, x), atol=1e-6)


@pytest.mark.parametrize("dtype", [np.int8, np.uint8])
def test_a_table_of_codes_is_a_table_of_reals(dtype: type) -> None:
    """An embedding as onnxruntime's dynamic quantisation writes it: codes taken, then made real."""
    table = np.arange(60, dtype=dtype).reshape(20, 3)
    nodes = [node("Gather", "t x", "q"), node("DequantizeLinear", "q s zt", "y")]
    arrays = {"t": table, "zt": dtype(ZERO)}
    proto = model(nodes, (TensorProto.INT64, TensorProto.FLOAT), arrays)
    loaded = hexsim.load(proto)
    assert opaque(loaded) == ["Gather"]
    x = np.random.default_rng(2).integers(0, 20, SHAPE)
    np.testing.assert_array_equal(answer(loaded, x, "cpu"), asked(proto, x))


def test_a_table_of_codes_that_are_also_integers_stays() -> None:
    nodes = [
        node("Gather", "t x", "q"), node("DequantizeLinear", "q s zt", "d"),
        node("Cast", "q", "c", to=1), node("Add", "c d", "y"),
    ]  # fmt: skip
    arrays = {"t": np.arange(60, dtype=np.int8).reshape(20, 3), "zt": np.int8(ZERO)}
    proto = model(nodes, (TensorProto.INT64, TensorProto.FLOAT), arrays)
    loaded = hexsim.load(proto)
    assert opaque(loaded) == ["Gather", "DequantizeLinear", "Cast"]
    x = np.random.default_rng(2).integers(0, 20, SHAPE)
    np.testing.assert_array_equal(answer(loaded, x, "cpu"), asked(proto, x))


def test_a_resize_that_interpolates_stays() -> None:
    """Codes between two codes are rounded by onnxruntime as its operator says."""
    proto = between(node("Resize", "q - scales", "m", mode="linear"))
    assert "QuantizeLinear" in opaque(hexsim.load(proto))


TYPES = {"uint8": (TensorProto.UINT8, np.uint8, 7), "int8": (TensorProto.INT8, np.int8, -5)}


def coded(kind: str, *, moved: bool = False) -> onnx.ModelProto:
    """A convolution whose input and output are codes of the type `kind`."""
    number, dtype, zero = TYPES[kind]
    nodes = [
        node("DequantizeLinear", f"{'t' if moved else 'x'} s zero", "d"),
        node("Conv", "d w", "c"),
        node("QuantizeLinear", "c other zero", "q" if moved else "y"),
    ]
    if moved:
        before = node("MaxPool", "x", "t", kernel_shape=[2, 2])
        nodes = [before, *nodes, node("Reshape", "q flat", "y")]
    return model(nodes, (number, number), {"zero": dtype(zero)})


@pytest.mark.parametrize("moved", [False, True])
@pytest.mark.parametrize("kind", TYPES)
def test_ends_that_are_codes(kind: str, moved: bool, tmp_path: Path) -> None:
    """In memory and from a file: codes in, codes out, as onnxruntime answers."""
    _, dtype, zero = TYPES[kind]
    proto = coded(kind, moved=moved)
    limits = np.iinfo(dtype)
    x = np.random.default_rng(2).integers(limits.min, limits.max, SHAPE, endpoint=True)
    x = x.astype(dtype)
    model = hexsim.load(proto)
    assert opaque(model) == []
    hexsim.save(model, tmp_path / "m.dlc")
    expected = asked(proto, x)
    for variant in (model, hexsim.load(tmp_path / "m.dlc")):
        floats, dsp = (answer(variant, x, runtime) for runtime in ("cpu", "dsp"))
        assert floats.dtype == dsp.dtype == expected.dtype
        np.testing.assert_array_equal(floats, expected)
        assert np.abs(dsp.astype(int) - expected).max() <= 1, "weights are codes of 8 bits there"
        real = (x.astype(np.float32) - zero) * SCALE
        np.testing.assert_array_equal(answer(variant, real, "cpu"), expected)


def test_only_codes_of_the_file_are_codes() -> None:
    model = hexsim.load(coded("uint8"))
    with pytest.raises(hexsim.HexsimError, match="'x' has dtype int32; give codes"):
        answer(model, np.zeros(SHAPE, np.int32), "cpu")


@pytest.mark.parametrize(
    "nodes",
    [
        [node("DequantizeLinear", "x s z", "a"), node("DequantizeLinear", "x other z", "b"),
         node("Add", "a b", "y")],
        [node("DequantizeLinear", "x s z", "a"), node("Cast", "x", "b", to=1),
         node("Add", "a b", "y")],
    ],
    ids=["two scales", "read as integers"],
)  # fmt: skip
def test_an_input_of_codes_of_several_kinds_stays(nodes: list[onnx.NodeProto]) -> None:
    proto = model(nodes, (TensorProto.UINT8, TensorProto.FLOAT))
    imported = hexsim.load(proto)
    assert imported.network.tensors["x"].dtype == "uint8"
    assert "DequantizeLinear" in opaque(imported)
    x = np.arange(32, dtype=np.uint8).reshape(SHAPE)
    np.testing.assert_allclose(answer(imported, x, "cpu"), asked(proto, x), atol=1e-6)


def test_an_input_that_is_an_output_stays_integers() -> None:
    """Nothing says what its codes stand for."""
    proto = model([node("Identity", "x", "y")], (TensorProto.UINT8, TensorProto.UINT8))
    network = hexsim.load(proto).network
    assert network.tensors[network.inputs[0]].dtype == "uint8"
    assert network.coded_ends == {}
