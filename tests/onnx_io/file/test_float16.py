"""A file of halves is a file of singles, wherever it says half."""

from collections.abc import Callable

import numpy as np
import onnx
import pytest
from onnx import helper, numpy_helper

from hexsim.graph.ir import Network
from hexsim.layers import Opaque
from hexsim.onnx_io.read.reader import read, read_with_codes
from hexsim.onnx_io.run.float_engine import FloatEngine
from hexsim.passes import optimize

Make = Callable[..., onnx.ModelProto]
node = helper.make_node
HALF, BFLOAT, FLOAT = (
    onnx.TensorProto.FLOAT16,
    onnx.TensorProto.BFLOAT16,
    onnx.TensorProto.FLOAT,
)


def _in_halves(model: onnx.ModelProto, half: int = HALF) -> onnx.ModelProto:
    for value in (*model.graph.input, *model.graph.output):
        value.type.tensor_type.elem_type = half
    for tensor in model.graph.initializer:
        if tensor.data_type == FLOAT:
            array = numpy_helper.to_array(tensor)
            tensor.CopyFrom(helper.make_tensor(tensor.name, half, array.shape, array.ravel()))
    return model


def _run(network: Network, x: np.ndarray) -> np.ndarray:
    stored = network.tensors["x"].from_source(x)
    result = FloatEngine(network).run({"x": stored})["y"]  # type: ignore[dict-item]
    return network.tensors["y"].to_source(result)


@pytest.mark.parametrize("half", [HALF, BFLOAT])
def test_a_network_of_halves_is_one_of_singles(half: int, onnx_model: Make) -> None:
    weights = {"w": np.full((2, 3, 1, 1), 0.5), "top": 1.0}
    nodes = [
        node("Conv", ["x", "w"], ["a"]),
        node("Cast", ["a"], ["b"], to=half),
        node("Clip", ["b", "", "top"], ["y"]),
    ]
    model = _in_halves(onnx_model(nodes, {"x": (1, 3, 4, 4)}, ["y"], weights), half)
    network = optimize(read(model))
    assert {tensor.dtype for tensor in network.tensors.values()} == {"float32"}
    assert len(network.layers) == 1
    x = np.linspace(-1, 1, 48, dtype=np.float32).reshape(1, 3, 4, 4)
    expected = np.minimum(x.sum(1, keepdims=True) / 2, 1).repeat(2, 1)
    np.testing.assert_allclose(_run(network, x), expected, rtol=1e-6)


def test_constants_of_halves_in_nodes_and_branches(onnx_model: Make) -> None:
    two = numpy_helper.from_array(np.array([2], np.float16))
    half_of = helper.make_tensor("half", HALF, [], [0.5])
    branch = helper.make_graph(
        [node("Mul", ["t", "half"], ["o"])],
        "branch",
        [],
        [helper.make_tensor_value_info("o", HALF, None)],
        [half_of],
    )
    other = helper.make_graph(
        [node("Identity", ["t"], ["o2"])],
        "other",
        [],
        [helper.make_tensor_value_info("o2", HALF, None)],
    )
    nodes = [
        node("ConstantOfShape", ["one"], ["c"], value=two),
        node("Mul", ["x", "c"], ["t"]),
        node("ReduceSum", ["t"], ["sum"], keepdims=0),
        node("Cast", ["sum"], ["holds"], to=onnx.TensorProto.BOOL),
        node("If", ["holds"], ["y"], then_branch=branch, else_branch=other),
    ]
    model = _in_halves(onnx_model(nodes, {"x": (1, 4)}, ["y"], {"one": [1]}, 13))
    network = optimize(read(model))
    assert any(isinstance(layer, Opaque) and layer.op_type == "If" for layer in network.layers)
    x = np.arange(4, dtype=np.float32).reshape(1, 4)
    np.testing.assert_array_equal(_run(network, x), x)


def test_the_report_says_so(onnx_model: Make) -> None:
    model = onnx_model([node("Relu", ["x"], ["y"])], {"x": (1, 4)}, ["y"])
    assert not read_with_codes(model).report.notes
    assert "16-bit floats" in read_with_codes(_in_halves(model)).report.notes[0]
