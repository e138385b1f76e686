"""What operators count for, by hand; and that every operator of the standard counts at all."""

from collections.abc import Callable

import numpy as np
import onnx
import pytest
from onnx import helper

from hexsim.graph.ir import Network
from hexsim.layers import Opaque, Permute
from hexsim.onnx_io.file.node import OnnxNode
from hexsim.onnx_io.read.operator_work import RULES, OperatorWork, ignores_layout, operator_work
from hexsim.onnx_io.read.reader import read

STANDARD = {s.name for s in onnx.defs.get_all_schemas_with_history() if s.domain == ""}


def node(operator: str, domain: str = "", **attributes: object) -> OnnxNode:
    proto = helper.make_node(operator, ["x", "w", "v"], ["y"], domain=domain, **attributes)
    return OnnxNode(proto, "n", 17)


@pytest.mark.parametrize("operator", sorted(STANDARD))
def test_every_operator_of_the_standard_has_a_rule(operator: str) -> None:
    assert operator in RULES, f"say in hexsim/onnx_io/read/operator_work.toml what {operator} takes"


@pytest.mark.parametrize("operator", sorted(STANDARD))
def test_a_rule_counts_something_whatever_the_shapes(operator: str) -> None:
    shapes = [(2, 3, 8, 8), (3, 3, 8, 8), (4, 8, 2), (4, 3, 3, 3)]
    for inputs in (shapes, [(5,), None, (5,)], [(), ()], []):
        work = operator_work(node(operator), inputs, [(2, 3, 8, 8)])
        assert work.macs >= 0
        assert work.operations >= 0


@pytest.mark.parametrize(
    ("what", "inputs", "output", "macs"),
    [
        (node("Conv"), [(1, 6, 20), (4, 6, 5)], (1, 4, 16), 16 * 4 * 6 * 5),
        (node("Conv", group=2), [(1, 6, 5, 5, 5), (4, 3, 1, 1, 1)], (1, 4, 5, 5, 5), 500 * 3),
        (node("FusedConv", "com.microsoft"), [(1, 6, 20), (4, 6, 5)], (1, 4, 16), 16 * 4 * 6 * 5),
        (node("ConvTranspose"), [(1, 6, 20), (6, 4, 5)], (1, 4, 24), 20 * 6 * 4 * 5),
        (node("QLinearConv"), [(1, 2, 9), (), (), (4, 2, 3)], (1, 4, 7), 7 * 4 * 2 * 3),
        (node("MatMul"), [(2, 5, 7), (2, 7, 3)], (2, 5, 3), 2 * 5 * 7 * 3),
        (node("MatMul"), [(7,), (7, 3)], (3,), 7 * 3),
        (node("Gemm", transA=1), [(7, 5), (7, 3)], (5, 3), 5 * 7 * 3),
        (node("Einsum", equation="bij,bjk->bik"), [(2, 5, 7), (2, 7, 3)], (2, 5, 3), 210),
        (node("Einsum", equation="...ij,jk"), [(2, 4, 5, 7), (7, 3)], (2, 4, 5, 3), 840),
        (node("Det"), [(2, 6, 6)], (2,), 2 * 72),
    ],
)
def test_multiply_accumulates(
    what: OnnxNode, inputs: list[tuple[int, ...]], output: tuple[int, ...], macs: int
) -> None:
    assert operator_work(what, inputs, [output]) == OperatorWork(macs)


def test_a_recurrent_cell_meets_its_weights_at_every_step_and_has_gates() -> None:
    inputs = [(10, 2, 8), (1, 4 * 16, 8), (1, 4 * 16, 16)]
    work = operator_work(node("LSTM"), inputs, [(10, 1, 2, 16)])
    assert work == OperatorWork(20 * 64 * (8 + 16), 20 * 64 * 10)


def test_attention_is_two_products_and_a_softmax() -> None:
    query, key = (1, 2, 10, 8), (1, 2, 12, 8)
    work = operator_work(node("Attention"), [query, key, key], [query])
    assert work == OperatorWork(2 * 2 * 10 * 12 * 8, 2 * 10 * 12 * 10)


@pytest.mark.parametrize(
    ("what", "inputs", "output", "operations"),
    [
        (node("Add"), [(4, 1), (1, 5)], (4, 5), 20),
        (node("Exp"), [(4, 5)], (4, 5), 200),
        (node("ArgMax"), [(4, 5)], (4, 1), 20),
        (node("TopK", axis=1), [(4, 8), (1,)], (4, 3), 4 * 8 * 3),
        (node("MaxPool", kernel_shape=[3]), [(1, 2, 9)], (1, 2, 7), 14 * 3),
        (node("RoiAlign", sampling_ratio=3), [(1, 2, 9, 9)], (5, 2, 1, 1), 10 * 9 * 8),
        (node("NonMaxSuppression"), [(1, 16, 4), (1, 2, 16)], (6, 3), 2 * (16 * 4 + 10 * 3)),
        (node("NonMaxSuppression"), [(2, 16, 4), (2, 3, 16)], (96, 3), 6 * (16 * 4 + 10 * 120)),
        (node("NonMaxSuppression"), [(1, 16, 4), (1, 2, 16)], (0, 3), 2 * 16 * 4),
        (node("Shape"), [(4, 5)], (2,), 0),
        (node("Unheard", "some.domain"), [(4, 5), None, (2,)], (3,), 25),
    ],
)
def test_operations_on_elements(
    what: OnnxNode, inputs: list[tuple[int, ...] | None], output: tuple[int, ...], operations: int
) -> None:
    assert operator_work(what, inputs, [output]) == OperatorWork(0, operations)


def test_of_a_table_only_what_is_picked_is_read(
    onnx_model: Callable[..., onnx.ModelProto],
) -> None:
    """An embedding: one row of a thousand for each of seven numbers."""
    nodes = [
        helper.make_node("Cast", ["x"], ["at"], to=onnx.TensorProto.INT64),
        helper.make_node("Gather", ["table", "at"], ["y"], name="n"),
    ]
    weights = {"table": np.zeros((1000, 64), np.float32)}
    network = read(onnx_model(nodes, {"x": (7,)}, ["y"], weights, 17))
    (layer,) = (layer for layer in network.layers if layer.name == "n")
    assert layer.elements_read(network.input_shapes(layer)) == 7 * 64 + 7
    (cast,) = (layer for layer in network.layers if layer.type == "Cast")
    assert cast.elements_read(network.input_shapes(cast)) == 7


def test_only_operators_without_axes_ignore_the_layout() -> None:
    image, channels = (1, 4, 5, 6), (4,)
    assert ignores_layout(node("Erf"), [image])
    assert ignores_layout(node("Where"), [image, image, channels])
    assert ignores_layout(node("QuantizeLinear"), [image, (), ()])
    assert not ignores_layout(node("QuantizeLinear"), [image, channels, channels])
    assert not ignores_layout(node("CumSum"), [image, ()])
    assert not ignores_layout(node("Erf", "some.domain"), [image])


def _read(operator: str, *operands: str, **attributes: object) -> Network:
    """An operator between two convolutions."""
    w = np.random.default_rng(0).normal(size=(4, 4, 1, 1)).astype(np.float32)
    scale = np.arange(1, 5, dtype=np.float32).reshape(4, 1, 1)
    nodes = [
        helper.make_node("Conv", ["x", "w"], ["a"]),
        helper.make_node(operator, ["a", *operands], ["b"], name="n", **attributes),
        helper.make_node("Conv", ["b", "w"], ["y"]),
    ]
    values = [
        helper.make_tensor_value_info(name, onnx.TensorProto.FLOAT, (1, 4, 5, 6)) for name in "xy"
    ]
    known = [onnx.numpy_helper.from_array(w, "w"), onnx.numpy_helper.from_array(scale, "scale")]
    graph = helper.make_graph(nodes, "g", values[:1], values[1:], known)
    return read(helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)]))


def test_an_opaque_operator_of_elements_takes_tensors_as_they_lie() -> None:
    network = _read("Mod", "scale", fmod=1)
    assert not any(isinstance(layer, Permute) for layer in network.layers)
    (layer,) = (layer for layer in network.layers if isinstance(layer, Opaque))
    assert layer.shapes == ((1, 5, 6, 4),)
    assert network.shape(layer.inputs[1]) == (1, 1, 1, 4)


def test_any_other_takes_them_as_the_file_has_them() -> None:
    network = _read("Hardmax", axis=2)
    assert sum(isinstance(layer, Permute) for layer in network.layers) == 2


def test_what_an_opaque_node_takes_is_reported_by_the_network(
    onnx_model: Callable[..., onnx.ModelProto],
) -> None:
    form = {"hidden_size": 16, "input_forget": 1}
    proto = helper.make_node("LSTM", ["x", "w", "r"], ["y"], name="n", **form)
    weights = {
        "w": np.zeros((1, 64, 8), np.float32),
        "r": np.zeros((1, 64, 16), np.float32),
    }
    network = read(onnx_model([proto], {"x": (10, 2, 8)}, ["y"], weights, 17))
    (layer,) = network.layers
    assert layer.type == "LSTM"
    assert network.macs(layer) == network.total_macs == 20 * 64 * 24
