"""Nodes that stand for several: each expansion computes what onnxruntime does."""

from collections.abc import Callable

import numpy as np
import onnx
import onnxruntime
import pytest
from onnx import helper, numpy_helper

from hexsim.graph.ir import Network
from hexsim.layers import Convolution, FullyConnected, Neuron, Opaque
from hexsim.onnx_io.float_engine import FloatEngine
from hexsim.onnx_io.read.reader import Imported, read_with_codes
from hexsim.passes import optimize
from tests.conftest import make_model
from tests.onnx_io.read.expansions.judged import assert_same, model_of

Make = Callable[..., onnx.ModelProto]
rng = np.random.default_rng(3)
MICROSOFT = "com.microsoft"


def normal(*shape: int) -> np.ndarray:
    return rng.standard_normal(shape).astype(np.float32)


def node(op: str, inputs: str, outputs: str = "y", domain: str = "", **kw: object):
    names = [name if name != "-" else "" for name in inputs.split()]
    return helper.make_node(
        op, names, outputs.split(), name=f"n {op} {outputs}", domain=domain, **kw
    )


def fused(op: str, inputs: str, **attributes: object) -> onnx.NodeProto:
    return node(op, inputs, domain=MICROSOFT, **attributes)


def with_arrays(model: onnx.ModelProto, arrays: dict[str, np.ndarray]) -> onnx.ModelProto:
    """The model with initialisers of any type, and com.microsoft."""
    model.graph.initializer.extend(numpy_helper.from_array(a, n) for n, a in arrays.items())
    model.opset_import.append(helper.make_opsetid(MICROSOFT, 1))
    return model


def both(model: onnx.ModelProto) -> tuple[Imported, Network, np.ndarray, np.ndarray]:
    """What was read, what is left, and y by us and by onnxruntime."""
    imported = read_with_codes(model)
    network = optimize(imported.network)
    feed = {name: normal(*network.tensors[name].source_shape) for name in network.inputs}
    options = onnxruntime.SessionOptions()
    options.graph_optimization_level = (  # as it stands: 1.20 fails on a FusedConv that it tiles
        onnxruntime.GraphOptimizationLevel.ORT_DISABLE_ALL
    )
    session = onnxruntime.InferenceSession(
        model.SerializeToString(), options, providers=["CPUExecutionProvider"]
    )
    (want,) = session.run(["y"], feed)
    stored = {name: network.tensors[name].from_source(array) for name, array in feed.items()}
    got = network.tensors["y"].to_source(FloatEngine(network).run(stored)["y"])  # type: ignore[arg-type]
    assert not any(isinstance(layer, Opaque) for layer in network.layers)
    return imported, network, got, np.asarray(want)


IMAGE, MATRIX = {"x": (1, 4, 6, 5)}, {"x": (3, 8)}
CONV = {"w": normal(5, 4, 3, 3), "b": normal(5)}
FUSED = {
    "conv": (fused("FusedConv", "x w b"), IMAGE, CONV),
    "conv relu": (fused("FusedConv", "x w b", activation="Relu", pads=[1] * 4), IMAGE, CONV),
    "conv without bias": (
        fused("FusedConv", "x w", activation="Tanh", strides=[2, 1]), IMAGE, {"w": CONV["w"]}
    ),
    "conv clip": (
        fused("FusedConv", "x w b", activation="Clip", activation_params=[-0.5, 0.75]), IMAGE, CONV
    ),
    "conv leaky": (
        fused("FusedConv", "x w b", activation="LeakyRelu", activation_params=[0.2]), IMAGE, CONV
    ),
    "conv hard sigmoid": (
        fused("FusedConv", "x w b", activation="HardSigmoid", activation_params=[0.3, 0.4]),
        IMAGE, CONV,
    ),
    "conv with sum": (
        fused("FusedConv", "x w b x", activation="Relu", pads=[1] * 4),
        IMAGE, {"w": normal(4, 4, 3, 3), "b": normal(4)},
    ),
    "gemm": (
        fused("FusedGemm", "x w b", activation="LeakyRelu", activation_alpha=0.1, transB=1),
        MATRIX, {"w": normal(5, 8), "b": normal(5)},
    ),
    "matmul": (fused("FusedMatMul", "x w", alpha=0.5, transB=1), MATRIX, {"w": normal(5, 8)}),
    "matmul transposed": (
        fused("FusedMatMul", "x w", transA=1), {"x": (8, 3)}, {"w": normal(8, 5)}
    ),
    "gelu": (fused("Gelu", "x"), IMAGE, {}),
    "bias gelu": (fused("BiasGelu", "x b"), MATRIX, {"b": normal(8)}),
    "fast gelu": (fused("FastGelu", "x"), MATRIX, {}),
    "fast gelu with bias": (fused("FastGelu", "x b"), MATRIX, {"b": normal(8)}),
    "quick gelu": (fused("QuickGelu", "x"), IMAGE, {}),
    "quick gelu 1.5": (fused("QuickGelu", "x", alpha=1.5), IMAGE, {}),
}  # fmt: skip


@pytest.mark.parametrize("case", FUSED)
def test_what_onnxruntime_fused(case: str, onnx_model: Make) -> None:
    proto, inputs, weights = FUSED[case]
    imported, network, got, want = both(
        with_arrays(onnx_model([proto], inputs, ["y"], weights), {})
    )
    np.testing.assert_allclose(got, want, rtol=1e-4, atol=2e-6)
    assert imported.report.expanded == {proto.name: f"{MICROSOFT}.{proto.op_type}"}
    if "gelu" in case:
        assert any(
            isinstance(layer, Neuron) and layer.function != "clamp" for layer in network.layers
        )


def test_a_product_of_unknown_rank_is_left_alone(onnx_model: Make) -> None:
    nodes = [node("Relu", "x", "r"), fused("FusedMatMul", "r w", transA=1)]
    model = with_arrays(onnx_model(nodes, {"x": (8, 3)}, ["y"], {"w": normal(8, 5)}), {})
    model.graph.output[0].CopyFrom(helper.make_tensor_value_info("y", 1, [3, 5]))
    assert read_with_codes(model).report.opaque[0].operator == "com.microsoft.FusedMatMul"


def dynamic(product: str, zero: str, scale: str, **attributes: object) -> list[onnx.NodeProto]:
    """As onnxruntime's quantize_dynamic writes a product."""
    return [
        node("DynamicQuantizeLinear", "x", "q s z"),
        node(product, f"q w z {zero}", "i", **attributes),
        node("Cast", "i", "f", to=onnx.TensorProto.FLOAT),
        node("Mul", f"s {scale}", "sw"),
        node("Mul", "f sw"),
    ]


@pytest.mark.parametrize("per_channel", [False, True])
@pytest.mark.parametrize("product", ["MatMulInteger", "ConvInteger"])
def test_dynamic_quantisation_is_a_product_of_floats(product: str, per_channel: bool) -> None:
    conv = product == "ConvInteger"
    shape, line = ((6, 4, 3, 3), (6, 1, 1)) if conv else ((8, 6), (6,))
    per_channel &= not conv  # onnxruntime takes one zero point there
    scale = np.full(line if per_channel else (), 0.01, np.float32)
    arrays = {
        "w": rng.integers(0, 256, shape).astype(np.uint8),
        "wz": np.full(6 if per_channel else (), 120, np.uint8),
        "ws": scale,
    }
    attributes = {"pads": [1, 1, 1, 1]} if conv else {}
    nodes = dynamic(product, "wz", "ws", **attributes)
    model = with_arrays(make_model(nodes, IMAGE if conv else MATRIX, ["y"], {}), arrays)
    imported, network, got, want = both(model)
    (layer,) = network.layers
    assert isinstance(layer, Convolution if conv else FullyConnected)
    assert np.abs(got - want).max() <= 0.02 * np.ptp(want)  # codes of 8 bits
    weight = network.constants[layer.weight].value()
    real = (arrays["w"].astype(np.float32) - 120) * 0.01
    np.testing.assert_allclose(np.sort(weight.ravel()), np.sort(real.ravel()), rtol=1e-6)
    assert "DynamicQuantizeLinear" in imported.report.expanded.values()


def test_codes_that_somebody_else_reads_stay() -> None:
    nodes = [
        *dynamic("MatMulInteger", "wz", "ws")[:2],
        node("Cast", "q", "c", to=onnx.TensorProto.FLOAT),
        node("Cast", "i", "f", to=onnx.TensorProto.FLOAT),
        node("ReduceSum", "f", "t", keepdims=0),
        node("Add", "c t"),
    ]
    arrays = {"w": np.full((8, 6), 3, np.uint8), "wz": np.uint8(1), "ws": np.float32(1)}
    model = with_arrays(make_model(nodes, MATRIX, ["y"], {}), arrays)
    opaque = {node.operator for node in read_with_codes(model).report.opaque}
    assert {"DynamicQuantizeLinear", "MatMulInteger"} <= opaque


def test_a_product_with_dynamic_weights_of_microsoft() -> None:
    proto = fused("DynamicQuantizeMatMul", "x w ws wz b")
    arrays = {
        "w": rng.integers(-60, 60, (8, 6)).astype(np.int8),  # more saturates in some CPUs
        "ws": np.linspace(0.01, 0.02, 6, dtype=np.float32),
        "wz": np.zeros(6, np.int8),
        "b": normal(6),
    }
    _, network, got, want = both(with_arrays(make_model([proto], MATRIX, ["y"], {}), arrays))
    assert len(network.layers) == 1
    assert np.abs(got - want).max() <= 0.02 * np.ptp(want)


CODES = {
    "sx": np.float32(0.03), "zx": np.uint8(120), "sy": np.float32(0.5), "zy": np.uint8(128),
    "s2": np.float32(0.25), "z2": np.uint8(100),
}  # fmt: skip


def linear(op: str, inputs: str, domain: str = MICROSOFT, **attributes: object):
    """The operator between nodes that quantise its input and dequantise its output."""
    return [
        node("QuantizeLinear", "x sx zx", "q"),
        node(op, inputs, "r", domain=domain, **attributes),
        node("DequantizeLinear", "r sy zy", "y"),
    ]


WEIGHT = rng.integers(-20, 20, (5, 4, 3, 3)).astype(np.int8)
LINEAR = {
    "conv": (linear("QLinearConv", "q sx zx w sw zw sy zy b", ""), IMAGE, {
        "w": WEIGHT, "sw": np.float32(0.02), "zw": np.int8(0),
        "b": rng.integers(-900, 900, 5).astype(np.int32)}),
    "conv per channel": (
        linear("QLinearConv", "q sx zx w sw zw sy zy b", "", pads=[1] * 4), IMAGE, {
        "w": WEIGHT, "sw": np.linspace(0.01, 0.05, 5, dtype=np.float32),
        "zw": np.zeros(5, np.int8), "b": rng.integers(-900, 900, 5).astype(np.int32)}),
    "conv without bias": (linear("QLinearConv", "q sx zx w sw zw sy zy", ""), IMAGE, {
        "w": WEIGHT, "sw": np.float32(0.02), "zw": np.int8(0)}),
    "matmul": (linear("QLinearMatMul", "q sx zx w sw zw sy zy", ""), MATRIX, {
        "w": rng.integers(0, 255, (8, 5)).astype(np.uint8), "sw": np.float32(0.02),
        "zw": np.uint8(128)}),
    "gemm": (linear("QGemm", "q sx zx w sw zw b sy zy", transB=1), MATRIX, {
        "w": rng.integers(-99, 99, (5, 8)).astype(np.int8), "sw": np.float32(0.02),
        "zw": np.int8(0), "b": rng.integers(-900, 900, 5).astype(np.int32)}),
    "add": (linear("QLinearAdd", "q sx zx q sx zx sy zy"), IMAGE, {}),
    "mul": (linear("QLinearMul", "q sx zx q sx zx sy zy"), IMAGE, {}),
    "sigmoid": (linear("QLinearSigmoid", "q sx zx sy zy"), IMAGE, {}),
    "leaky relu": (linear("QLinearLeakyRelu", "q sx zx sy zy", alpha=0.1), IMAGE, {}),
    "average pool": (
        linear("QLinearAveragePool", "q sx zx sy zy", kernel_shape=[2, 2]), IMAGE, {}),
    "global average pool": (linear("QLinearGlobalAveragePool", "q sx zx sy zy"), IMAGE, {}),
    "concat": (linear("QLinearConcat", "sy zy q sx zx q sx zx", axis=1), IMAGE, {}),
}  # fmt: skip


@pytest.mark.parametrize("case", LINEAR)
@pytest.mark.parametrize("opset", [11, 17])
def test_operators_on_codes_become_floats_with_their_codes(case: str, opset: int) -> None:
    nodes, inputs, arrays = LINEAR[case]
    model = with_arrays(make_model(nodes, inputs, ["y"], {}, opset), {**CODES, **arrays})
    imported, network, got, want = both(model)
    # The code of the input and that of the output are rounded there and not here.
    assert np.abs(got - want).max() <= 0.75 * 0.5 + 0.1 * np.ptp(want)
    assert imported.codes["x"].scales == (pytest.approx(0.03),)
    assert any(codes.scales == (0.5,) for codes in imported.codes.values())
    if "w" in arrays:
        weight = next(
            layer for layer in network.layers if isinstance(layer, Convolution | FullyConnected)
        )
        assert imported.codes[weight.weight].bits == 8


@pytest.mark.parametrize("operator", ["ReduceL1", "ReduceL2", "ReduceLogSum", "ReduceLogSumExp"])
@pytest.mark.parametrize("opset", [11, 13, 18])
@pytest.mark.parametrize("axes", [[1], [2, 3], None], ids=str)
def test_norms_and_logarithms_of_sums(operator: str, opset: int, axes: list[int] | None) -> None:
    square = node("Mul", "x x", "s")  # what logarithms want is not negative
    attributes = {} if opset == 18 or axes is None else {"axes": axes}
    named = "s axes" if opset == 18 and axes is not None else "s"
    proto = node(operator, named, keepdims=1, **attributes)
    model = make_model([square, proto], IMAGE, ["y"], {}, opset)
    _, network, got, want = both(with_arrays(model, {"axes": np.array(axes or [1])}))
    np.testing.assert_allclose(got, want, rtol=1e-5, atol=1e-5)
    assert sum(layer.type == "reduce" for layer in network.layers) >= 1


def test_exponentials_of_large_numbers_do_not_overflow() -> None:
    model = make_model(
        [node("Mul", "x big", "s"), node("ReduceLogSumExp", "s", axes=[1])], IMAGE, ["y"], {}, 13
    )
    _, _, got, want = both(with_arrays(model, {"big": np.array(1000, np.float32)}))
    assert np.isfinite(got).all()
    np.testing.assert_allclose(got, want, rtol=1e-5)


@pytest.mark.parametrize("opset", [11, 13, 18])
@pytest.mark.parametrize("axes", [[1], [1, 3], None], ids=str)
def test_a_logarithm_of_exponentials_may_drop_its_axes(opset: int, axes: list[int] | None) -> None:
    attributes = {} if opset == 18 or axes is None else {"axes": axes}
    named = "s axes" if opset == 18 and axes is not None else "s"
    protos = [node("Abs", "x", "s"), node("ReduceLogSumExp", named, keepdims=0, **attributes)]
    model = with_arrays(
        make_model(protos, IMAGE, ["y"], {}, opset), {"axes": np.array(axes or [1])}
    )
    _, network, got, want = both(model)
    assert not any(isinstance(layer, Opaque) for layer in network.layers)
    np.testing.assert_allclose(got, want, rtol=1e-5)


def test_a_logarithm_of_exponentials_without_axes_to_drop_stays_one_node() -> None:
    proto = node("ReduceLogSumExp", "x", keepdims=0, noop_with_empty_axes=1)
    model = make_model([proto], IMAGE, ["y"], {}, 18)
    assert [layer.type for layer in read_with_codes(model).network.layers][-1] == "ReduceLogSumExp"


def test_an_exclusive_or_is_what_tensor_processors_have() -> None:
    """Not of Equal; Xor itself is in late releases only."""
    ends = [helper.make_tensor_value_info(name, onnx.TensorProto.FLOAT, (3, 8)) for name in "xy"]
    nodes = [
        helper.make_node("Greater", ["x", "zero"], ["a"]),
        helper.make_node("Less", ["x", "one"], ["b"]),
        helper.make_node("Xor", ["a", "b"], ["c"]),
        helper.make_node("Where", ["c", "x", "zero"], ["y"]),
    ]
    arrays = [numpy_helper.from_array(np.float32(v), n) for n, v in (("zero", 0), ("one", 1))]
    graph = helper.make_graph(nodes, "xor", ends[:1], ends[1:], arrays)
    proto = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=9)
    network = read_with_codes(proto).network
    assert [layer.type for layer in network.layers] == ["Greater", "Less", "Equal", "Not", "Where"]
    x = normal(3, 8)
    (got,) = FloatEngine(network).run({"x": x}).values()
    (want,) = onnxruntime.InferenceSession(proto.SerializeToString()).run(None, {"x": x})
    np.testing.assert_array_equal(got, want)


@pytest.mark.parametrize("domain", ["", "caffe.ops"])
@pytest.mark.parametrize("slope", [{}, {"negative_slope": 0.25}, {"alpha": 2.0}])
def test_relu6_is_read_though_onnx_has_none(domain: str, slope: dict[str, float]) -> None:
    ends = [helper.make_tensor_value_info(name, onnx.TensorProto.FLOAT, (3, 8)) for name in "xy"]
    nodes = [helper.make_node("Relu6", ["x"], ["y"], domain=domain, **slope)]
    graph = helper.make_graph(nodes, "relu6", ends[:1], ends[1:])
    opsets = [helper.make_opsetid(name, 13) for name in {"", domain}]
    network = read_with_codes(helper.make_model(graph, opset_imports=opsets, ir_version=8)).network
    x = 6 * normal(3, 8)
    (got,) = FloatEngine(network).run({"x": x}).values()
    (factor,) = slope.values() or (0,)
    np.testing.assert_allclose(got, np.minimum(np.where(x > 0, x, factor * x), 6))


@pytest.mark.parametrize(
    ("block", "attributes", "is_moved"),
    [
        ((2, 2), {"strides": [2, 2]}, True),
        ((2, 2), {"strides": [1, 1]}, False),
        ((2, 3), {"strides": [2, 3]}, False),
    ],
)
def test_images_of_blocks_side_by_side(
    block: tuple[int, int], attributes: dict[str, object], is_moved: bool
) -> None:
    """A Col2Im whose blocks do not overlap only moves numbers."""
    places = {(2, 2): 6 if is_moved else 15, (2, 3): 4}[block]
    sizes = {"size": np.array([4, 6]), "block": np.array(block)}
    feed = {"x": normal(1, 3 * block[0] * block[1], places)}
    model = model_of([node("Col2Im", "x size block", **attributes)], feed, sizes, "y", 18)
    assert_same(model, feed, () if is_moved else ("Col2Im",))
