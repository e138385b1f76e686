"""Nodes that quantise are stripped where they form a pair, and stay where they do not."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import onnx
import onnxruntime
import pytest
from onnx import helper, numpy_helper

import hexsim
from hexsim.errors import HexsimError
from hexsim.layers import RELU, Clamp, Convolution, Deconvolution, FullyConnected, Opaque
from hexsim.onnx_io.float_engine import FloatEngine
from hexsim.onnx_io.read.node_codes import NodeCodes
from hexsim.onnx_io.read.reader import Imported, read_with_codes
from hexsim.passes import optimize
from hexsim.quantization.encodings import Encoding

Make = Callable[..., onnx.ModelProto]
ARRAYS = {
    "scale": np.float32(0.5),
    "other": np.float32(0.25),
    "six": np.float32(6 / 255),
    "zero": np.uint8(3),
    "lowest": np.uint8(0),
    "signed": np.int8(-128),
}


def model(
    nodes: list[onnx.NodeProto],
    arrays: dict[str, Any] | None = None,
    shape: tuple[int, ...] = (1, 2, 4, 4),
    outputs: tuple[str, ...] = ("y",),
    domains: tuple[str, ...] = (),
) -> onnx.ModelProto:
    kind = onnx.TensorProto.FLOAT
    graph = helper.make_graph(
        nodes,
        "small",
        [helper.make_tensor_value_info("x", kind, shape)],
        [helper.make_tensor_value_info(name, kind, None) for name in outputs],
        [
            numpy_helper.from_array(np.asarray(a), n)
            for n, a in {**ARRAYS, **(arrays or {})}.items()
        ],
    )
    imports = [helper.make_opsetid("", 19), *(helper.make_opsetid(d, 1) for d in domains)]
    return helper.make_model(graph, opset_imports=imports, ir_version=9)


def node(op: str, inputs: str, output: str, **attributes: Any) -> onnx.NodeProto:
    return helper.make_node(op, inputs.split(), [output], f"n_{output}", **attributes)


def pair(source: str, output: str, codes: str = "scale zero", **extra: Any) -> list[onnx.NodeProto]:
    return [
        node("QuantizeLinear", f"{source} {codes}", f"{output}_q", **extra),
        node("DequantizeLinear", f"{output}_q {codes}", output, **extra),
    ]


def opaque(read: Imported) -> list[str]:
    return [layer.op_type for layer in read.network.layers if isinstance(layer, Opaque)]


@pytest.mark.parametrize("domain", ["", "com.microsoft"])
def test_a_pair_leaves_nothing_but_its_codes(domain: str) -> None:
    nodes = [*pair("x", "a", domain=domain), node("Tanh", "a", "t"), *pair("t", "y")]
    read = read_with_codes(model(nodes, domains=("com.microsoft",)))
    codes = NodeCodes(8, (0.5,), (-3,), symmetric=False)
    assert read.codes == {"x": codes, "t": codes}
    optimized = optimize(read.network)
    assert [layer.name for layer in optimized.layers] == ["n_t"]
    assert optimized.outputs == ("y",)


@pytest.mark.parametrize(
    ("dtype", "zero", "offset", "symmetric"),
    [
        (np.uint8, 3, -3, False),
        (np.int8, 0, -128, True),
        (np.int8, -128, 0, False),
        (np.uint16, 700, -700, False),
        (np.int16, 0, -32768, True),
    ],
)
def test_types_of_codes(dtype: type, zero: int, offset: int, symmetric: bool) -> None:
    nodes = [*pair("x", "a", "scale z", domain="com.microsoft"), node("Tanh", "a", "y")]
    read = read_with_codes(model(nodes, {"z": dtype(zero)}, domains=("com.microsoft",)))
    bits = np.dtype(dtype).itemsize * 8
    assert read.codes["x"] == NodeCodes(bits, (0.5,), (offset,), symmetric)


def test_constants_behind_the_node_that_reads_them() -> None:
    constants = [
        helper.make_node("Constant", [], [name], value=numpy_helper.from_array(np.asarray(value)))
        for name, value in (("late_scale", np.float32(0.5)), ("late_zero", np.uint8(3)))
    ]
    quantize, dequantize = pair("x", "a")
    dequantize.input[1:] = ["late_scale", "late_zero"]
    read = read_with_codes(model([quantize, *constants, dequantize, node("Tanh", "a", "y")]))
    assert opaque(read) == []
    assert set(read.codes) == {"x"}


def test_a_relu_that_only_the_codes_do_comes_back() -> None:
    weights = {"w": np.ones((4, 2, 1, 1), np.float32)}
    for zero, scale, clamp in (("lowest", "scale", RELU), ("lowest", "six", Clamp(0.0, 6.0))):
        nodes = [node("Conv", "x w", "c"), *pair("c", "a", f"{scale} {zero}"),
                 node("MaxPool", "a", "y", kernel_shape=[2, 2])]  # fmt: skip
        read = read_with_codes(model(nodes, weights))
        (conv, _) = optimize(read.network).layers
        assert isinstance(conv, Convolution)
        assert conv.clamp == clamp
        assert set(read.codes) == {"a"}, "the tensor behind the clamp is the one that stays"


@pytest.mark.parametrize("before", ["Relu", "Sigmoid", "Softmax"])
def test_no_relu_is_added_where_nothing_is_negative(before: str) -> None:
    along = {"axis": 1} if before == "Softmax" else {}
    nodes = [node(before, "x", "r", **along), *pair("r", "a", "scale lowest"),
             node("MaxPool", "a", "p", kernel_shape=[2, 2]), *pair("p", "b", "scale lowest"),
             node("Add", "b b", "s"), *pair("s", "d", "scale lowest"),
             node("Tanh", "d", "y")]  # fmt: skip
    read = read_with_codes(model(nodes))
    optimized = optimize(read.network)
    assert [layer.name for layer in optimized.layers] == ["n_r", "n_p", "n_s", "n_y"]


@pytest.mark.parametrize(
    "nodes",
    [
        [node("QuantizeLinear", "x scale zero", "q"),
         node("DequantizeLinear", "q other zero", "y")],
        [node("QuantizeLinear", "x scale zero", "q"), node("DequantizeLinear", "q scale zero", "d"),
         node("Cast", "q", "c", to=1), node("Add", "c d", "y")],
        pair("x", "y", "scales zeros", axis=1),
        [node("Relu", "x", "r"), node("ReduceMax", "r", "m", keepdims=0),
         node("QuantizeLinear", "x m", "q"), node("DequantizeLinear", "q m", "y")],
    ],
    ids=["scales", "reader", "channels", "varying"],
)  # fmt: skip
def test_what_is_no_pair_stays_as_it_is(
    nodes: list[onnx.NodeProto], agree: Callable[..., object]
) -> None:
    """And computes what onnxruntime computes, rounding included."""
    arrays = {"scales": np.float32([0.5, 0.25]), "zeros": np.uint8([3, 4])}
    proto = model(nodes, arrays)
    assert "QuantizeLinear" in opaque(read_with_codes(proto))
    agree(proto)


def test_a_second_pair_with_other_codes_stays() -> None:
    nodes = [*pair("x", "a"), *pair("x", "b", "other zero"), node("Add", "a b", "y")]
    read = read_with_codes(model(nodes))
    assert opaque(read) == ["QuantizeLinear", "DequantizeLinear"]
    assert read.codes == {"x": NodeCodes(8, (0.5,), (-3,), symmetric=False)}


def test_weights_and_biases_become_float_with_codes() -> None:
    rng = np.random.default_rng(1)
    integers = rng.integers(-127, 128, (4, 2, 1, 1)).astype(np.int8)
    scales = np.float32([0.5, 0.25, 1.0, 2.0])
    arrays = {
        "wq": integers, "ws": scales, "wz": np.zeros(4, np.int8),
        "bq": np.int32([7, -8, 9, 0]), "bs": scales / 4,
    }  # fmt: skip
    nodes = [
        node("DequantizeLinear", "wq ws wz", "w", axis=0),
        node("DequantizeLinear", "bq bs", "b", axis=0),
        node("Conv", "x w b", "y"),
    ]
    read = read_with_codes(model(nodes, arrays))
    (conv,) = read.network.layers
    assert isinstance(conv, Convolution)
    weight = read.network.constants[conv.weight].value()
    np.testing.assert_array_equal(weight[0, 0], integers[:, :, 0, 0].T * scales)
    bias = read.network.constants[conv.bias or ""].value()
    np.testing.assert_array_equal(bias, arrays["bq"] * arrays["bs"])
    exact = tuple(float(scale) for scale in scales)
    assert read.codes["w"] == NodeCodes(8, exact, (-128,) * 4, True, axis=0)
    assert read.codes["b"].bits == 32


def test_asymmetric_weights_keep_their_zero_point() -> None:
    arrays = {"wq": np.uint8([[0, 128], [200, 255]]), "wz": np.uint8(128)}
    nodes = [node("DequantizeLinear", "wq scale wz", "w"), node("MatMul", "x w", "y")]
    read = read_with_codes(model(nodes, arrays, shape=(3, 2)))
    x = np.eye(3, 2, dtype=np.float32)
    (result,) = FloatEngine(read.network).run({"x": x}).values()
    np.testing.assert_array_equal(result[:2], (arrays["wq"].astype(float) - 128) / 2)
    assert read.codes["w"] == NodeCodes(8, (0.5,), (-128,), symmetric=False)


@pytest.mark.parametrize(
    ("attributes", "axis", "kept"),
    [
        ({"transB": 1}, 0, True),
        ({"transB": 1}, 1, False),
        ({}, 1, True),
        ({"alpha": 2.0}, 1, False),
    ],
)
def test_channels_must_be_those_of_the_layer(attributes: dict, axis: int, kept: bool) -> None:
    """Of a square matrix, shapes do not tell which axis the scales belong to."""
    arrays = {
        "wq": np.int8([[1, 2], [3, 4]]), "ws": np.float32([0.5, 2]), "wz": np.zeros(2, np.int8),
    }  # fmt: skip
    nodes = [node("DequantizeLinear", "wq ws wz", "w", axis=axis),
             node("Gemm", "x w", "y", **attributes)]  # fmt: skip
    read = read_with_codes(model(nodes, arrays, shape=(3, 2)))
    assert isinstance(read.network.layers[0], FullyConnected)
    assert ("w" in read.network.constants) is kept, "other numbers have another name"


@pytest.mark.parametrize(("axis", "groups", "kept"), [(1, 1, True), (0, 1, False), (1, 2, False)])
def test_the_channels_of_a_transposed_convolution_are_its_second_axis(
    axis: int, groups: int, kept: bool
) -> None:
    arrays = {
        "wq": np.int8([[1, 2], [3, 4]]).reshape(2, 2, 1, 1),
        "ws": np.float32([0.5, 2]),
        "wz": np.zeros(2, np.int8),
    }
    nodes = [
        node("DequantizeLinear", "wq ws wz", "w", axis=axis),
        node("ConvTranspose", "x w", "y", group=groups),
    ]
    read = read_with_codes(model(nodes, arrays, shape=(1, 2, 3, 3)))
    assert isinstance(read.network.layers[0], Deconvolution)
    assert ("w" in read.network.constants) is kept


def test_weights_that_pass_a_pair_stay_what_they_were() -> None:
    weight = np.float32([[0.3, -0.7], [1.1, 2.0]])
    nodes = [*pair("v", "w"), node("MatMul", "x w", "y")]
    read = read_with_codes(model(nodes, {"v": weight}, shape=(3, 2)))
    np.testing.assert_array_equal(read.network.constants["w"].value(), weight)
    assert set(read.codes) == {"w"}


@pytest.mark.parametrize(
    ("fake", "codes"),
    [
        (node("FakeQuantize", "x lo hi lo hi", "a", levels=256, domain="org.openvinotoolkit"),
         NodeCodes(8, (4 / 255,), (-64,), False)),
        (node("FakeQuantize", "x hm hi hm hi", "a", levels=255, domain="org.openvinotoolkit"),
         NodeCodes(8, (6 / 254,), (-128,), True)),
        (node("FakeQuantWithMinMaxVars", "x lo hi", "a", num_bits=4, domain="tf"),
         NodeCodes(4, (4 / 15,), (-4,), False)),
        (node("FakeQuantWithMinMaxArgs", "x", "a", min=-1.0, max=3.0, domain="tf"),
         NodeCodes(8, (4 / 255,), (-64,), False)),
    ],
)  # fmt: skip
def test_nodes_that_do_both_at_once(fake: onnx.NodeProto, codes: NodeCodes) -> None:
    limits = {"lo": np.float32(-1), "hi": np.float32(3), "hm": np.float32(-3)}
    proto = model([fake, node("Tanh", "a", "y")], limits, domains=("org.openvinotoolkit", "tf"))
    read = read_with_codes(proto)
    assert read.codes == {"x": codes}
    assert [layer.name for layer in optimize(read.network).layers] == ["n_y"]


def moved(*movers: onnx.NodeProto) -> list[onnx.NodeProto]:
    """Codes of x, moved until they are m, and floats of those."""
    return [
        node("QuantizeLinear", "x scale zero", "q"),
        *movers,
        node("DequantizeLinear", "m scale zero", "d"),
        node("Tanh", "d", "y"),
    ]


MOVED = {
    "reshape": moved(node("Reshape", "q flat", "m")),
    "several": moved(
        node("Transpose", "q", "t", perm=[0, 2, 3, 1]), node("Reshape", "t flat", "m")
    ),
    "slices joined": moved(
        helper.make_node("Split", ["q"], ["a", "b"], axis=1, num_outputs=2),
        node("Concat", "b a", "m", axis=2),
    ),
    "maximum": moved(node("MaxPool", "q", "m", kernel_shape=[2, 2])),
    "gather": moved(node("Gather", "q one", "m", axis=1)),
    "two sources": [
        node("Relu", "x", "r"),
        node("QuantizeLinear", "r scale zero", "p"),
        *moved(node("Concat", "p q", "m", axis=1)),
    ],
}


@pytest.mark.parametrize("case", MOVED)
def test_codes_that_are_only_moved_are_floats(case: str) -> None:
    arrays = {"flat": np.array([1, -1]), "one": np.array(1)}
    proto = model(MOVED[case], arrays)
    read = read_with_codes(proto)
    assert opaque(read) == []
    assert all(tensor.dtype == "float32" for tensor in read.network.tensors.values())
    assert read.codes["x"] == NodeCodes(8, (0.5,), (-3,), symmetric=False)
    x = np.random.default_rng(1).integers(-1, 2, (1, 2, 4, 4)).astype(np.float32) / 2
    (want,) = run(proto, x)
    network = optimize(read.network)
    got = FloatEngine(network).run({"x": network.tensors["x"].from_source(x)})["y"]
    np.testing.assert_allclose(network.tensors["y"].to_source(got), want, atol=1e-6)


def run(proto: onnx.ModelProto, x: np.ndarray) -> list[np.ndarray]:
    session = onnxruntime.InferenceSession(proto.SerializeToString())
    return session.run(None, {"x": x})


@pytest.mark.parametrize(
    "nodes",
    [
        moved(node("Reshape", "q flat", "m"), node("Cast", "m", "z", to=1)),  # read as integers
        [
            *moved(node("Concat", "q p", "m", axis=1))[:1],
            node("QuantizeLinear", "x other zero", "p"),
            *moved(node("Concat", "q p", "m", axis=1))[1:],
        ],  # joined with other codes
        [
            node("QuantizeLinear", "x scale zero", "q"), node("Reshape", "q flat", "m"),
            node("DequantizeLinear", "m other zero", "y"),
        ],  # read with another scale
    ],
    ids=["integers", "codes", "scale"],
)  # fmt: skip
def test_codes_that_are_more_than_moved_stay(nodes: list[onnx.NodeProto]) -> None:
    arrays = {"flat": np.array([1, -1])}
    outputs = ("y", "z") if any("z" in node.output for node in nodes) else ("y",)
    proto = model(nodes, arrays, outputs=outputs)
    assert "QuantizeLinear" in opaque(read_with_codes(proto))


@pytest.mark.parametrize("domain", ["", "com.microsoft"])
@pytest.mark.parametrize("opset", [10, 13, 17, 19, 21, 23])
def test_a_constant_of_any_scale_is_the_array_that_onnxruntime_has(opset: int, domain: str) -> None:
    """Optimisers write constants with a scale of zero or below it."""
    if opset > onnx.defs.onnx_opset_version():
        pytest.skip(f"onnx {onnx.__version__} does not know opset {opset}")
    for scale in (-0.5, 0.0, np.inf):
        arrays = {"k": np.uint8(1), "s": np.float32(scale), "z": np.uint8(0)}
        nodes = [node("DequantizeLinear", "k s z", "d", domain=domain), node("Add", "x d", "y")]
        proto = model(nodes, arrays, domains=("com.microsoft",))
        proto.opset_import[0].version = opset
        x = np.zeros((1, 2, 4, 4), np.float32)
        read = read_with_codes(proto)
        assert not opaque(read)
        got = FloatEngine(read.network).run({"x": read.network.tensors["x"].from_source(x)})["y"]
        (want,) = run(proto, x)
        np.testing.assert_array_equal(read.network.tensors["y"].to_source(got), want)


def test_a_constant_that_cannot_be_computed_says_why() -> None:
    nodes = [node("Gather", "k i", "d"), node("Add", "x d", "y")]
    read = read_with_codes(model(nodes, {"k": np.zeros(3, np.float32), "i": np.int64(7)}))
    (name,) = read.network.constants
    with pytest.raises(HexsimError, match="index 7 is out of bounds for axis 0 with size 3"):
        read.network.constants[name].value()


@pytest.mark.parametrize("alpha", [0.25, -1.0, -2.0, 8.0])
@pytest.mark.parametrize("form", ["QDQ", "AIMET"])
@pytest.mark.parametrize(("kind", "zero"), [(np.int8, 0), (np.uint8, 77)])
def test_a_multiple_of_a_coded_weight_has_its_codes(
    alpha: float, form: str, kind: type, zero: int, tmp_path: Path
) -> None:
    """Two products share a weight, and one has an alpha: its copy has a multiple of the step."""
    codes = np.arange(-8, 8).reshape(4, 4) + zero
    weight = ((codes - zero) * 0.5).astype(np.float32)
    coded = [node("DequantizeLinear", "k s z", "w")] if form == "QDQ" else []
    arrays = {"k": codes.astype(kind), "s": np.float32(0.5), "z": kind(zero)}
    nodes = [
        *coded, node("Flatten", "x", "f"),
        node("Gemm", "f w", "g"), node("Gemm", "g w", "y", alpha=alpha),
    ]  # fmt: skip
    file, floats = tmp_path / "m.onnx", {"w": weight}
    onnx.save(model(nodes, arrays if coded else floats, shape=(2, 4, 1, 1)), file)
    entry = {"bitwidth": 8, "scale": 0.5, "offset": -zero or -128, "is_symmetric": str(zero == 0)}
    given = {"activation_encodings": {}, "param_encodings": {"w": [entry]}}
    (tmp_path / "e.json").write_text(json.dumps(given))
    overrides = None if coded else hexsim.read_overrides(tmp_path / "e.json")
    x = np.ones((2, 4, 1, 1), np.float32)
    quantized = hexsim.quantize(hexsim.load(file), [x], overrides=overrides)
    assert not [o for o in quantized.overrides if o.outcome != "applied"]
    for layer, factor in zip(quantized.network.layers[-2:], (1.0, alpha), strict=True):
        assert isinstance(layer, FullyConnected)
        encoding = quantized.parameters[layer.weight]
        assert isinstance(encoding, Encoding)
        assert encoding.delta == pytest.approx(0.5 * abs(factor))
        stored = encoding.quantize(quantized.network.constants[layer.weight].value())
        np.testing.assert_allclose(encoding.dequantize(stored), weight * factor, atol=1e-6)


def test_steps_that_no_file_stores_are_no_encodings(tmp_path: Path) -> None:
    """Constants with such a scale, zero or not, are the numbers that they are."""
    nodes = [node("DequantizeLinear", "k s z", "w"), node("Add", "x w", "y")]
    arrays = {"k": np.full(4, 5, np.uint8), "s": np.float32(1e-40), "z": np.uint8(0)}
    onnx.save(model(nodes, arrays), tmp_path / "m.onnx")
    hexsim.save(hexsim.load(tmp_path / "m.onnx"), tmp_path / "m.dlc")
    assert not hexsim.load(tmp_path / "m.dlc").own_overrides
