"""The writer: any tensor as output, weights beside the graph, every layer type, precisions."""

from collections.abc import Callable

import numpy as np
import onnx
import onnxruntime
import pytest
from onnx import helper, numpy_helper

from hexsim.graph.ir import Constant, Network, Tensor
from hexsim.layers import ChannelShuffle, FullyConnected, Neuron
from hexsim.onnx_io.float_engine import FloatEngine
from hexsim.onnx_io.read.reader import read
from hexsim.onnx_io.write.writer import write
from hexsim.passes import optimize

Make = Callable[..., onnx.ModelProto]
node = helper.make_node
rng = np.random.default_rng(11)


@pytest.fixture
def network(onnx_model: Make) -> Network:
    weights = {
        "w": rng.standard_normal((8, 3, 3, 3)),
        "b": rng.standard_normal(8),
        "m": rng.standard_normal((8 * 36, 40)),
    }
    nodes = [
        node("Conv", ["x", "w", "b"], ["a"]),
        node("Clip", ["a", "", "top"], ["c"]),
        node("Flatten", ["c"], ["d"]),
        node("Gemm", ["d", "m"], ["y"]),
    ]
    return read(onnx_model(nodes, {"x": (1, 3, 8, 8)}, ["y"], {**weights, "top": 1.0}))


def test_any_tensor_can_be_an_output(network: Network) -> None:
    names = [name for name in network.tensors if name != "x"]
    x = {"x": rng.standard_normal((1, 8, 8, 3)).astype(np.float32)}
    values = FloatEngine(network, outputs=names).run(x)
    assert {n: v.shape for n, v in values.items()} == {n: network.shape(n) for n in names}
    assert np.array_equal(values["c"], np.minimum(values["a"], 1.0))
    assert np.array_equal(values["y"], FloatEngine(network).run(x)["y"])


def test_a_large_matrix_is_fed_instead_of_copied(onnx_model: Make) -> None:
    weight = rng.standard_normal((2048, 512)).astype(np.float32) / 45  # answers of about one
    nodes = [node("MatMul", ["x", "w"], ["a"]), node("Tanh", ["a"], ["y"])]
    model = onnx_model(nodes, {"x": (3, 2048)}, ["y"], {"w": weight})
    network = read(model)
    written = write(network)
    assert [value.name for value in written.model.graph.input] == ["x", "w/fed"]
    assert written.fed["w/fed"] is network.constants["w"].value()
    assert not written.weights
    x = rng.standard_normal((3, 2048)).astype(np.float32)
    expected = np.tanh(x.astype(np.float64) @ weight)
    single, half = (
        np.abs(FloatEngine(network, precision=precision).run({"x": x})["y"] - expected).max()
        for precision in ("float32", "half_storage")
    )
    assert single < 1e-5 < half < 1e-2


def test_the_written_model_is_valid_and_complete(network: Network) -> None:
    written = write(network)
    assert set(written.weights) == {"m"}  # the others are small enough to be inside
    model = onnx.ModelProto()
    model.CopyFrom(written.model)
    for tensor in model.graph.initializer:
        if tensor.name in written.weights:
            tensor.CopyFrom(numpy_helper.from_array(written.weights[tensor.name], tensor.name))
    onnx.checker.check_model(model, full_check=True)
    session = onnxruntime.InferenceSession(model.SerializeToString())
    x = rng.standard_normal((1, 8, 8, 3)).astype(np.float32)
    expected = FloatEngine(network).run({"x": x})["y"]
    assert np.array_equal(session.run(["y"], {"x": x})[0], expected)


def test_every_node_has_a_name_of_its_own(network: Network) -> None:
    names = [node.name for node in write(network, precision="float16").model.graph.node]
    assert all(names)
    assert len(set(names)) == len(names)


@pytest.mark.parametrize("opset", [7, 10, 13, 18])
def test_opaque_layers_are_written_in_the_lowest_opset_that_means_the_same(
    opset: int, onnx_model: Make
) -> None:
    nodes = [
        node("Atan", ["x"], ["a"]),
        node("Conv", ["a", "w"], ["b"]),
        node("Relu", ["b"], ["c"]),
        node("Max", ["c", "w2"], ["d"]),
        node("Softmax", ["d"], ["y"], axis=1),
    ]
    weights = {"w": rng.standard_normal((2, 3, 1, 1)), "w2": rng.standard_normal((1, 2, 4, 4))}
    if opset == 7:
        nodes[3] = node("Add", ["c", "w2"], ["d"])
    network = optimize(read(onnx_model(nodes, {"x": (1, 3, 4, 4)}, ["y"], weights, opset)))
    model = write(network).model
    assert {i.domain: i.version for i in model.opset_import} == {"": min(max(opset, 8), 17)}
    FloatEngine(network)


def test_layers_that_no_onnx_node_becomes_directly() -> None:
    tensors = {name: Tensor(name, (1, 2, 2, 6)) for name in "xy"}
    shuffle = ChannelShuffle(name="s", inputs=("x",), outputs=("y",), groups=2)
    network = Network("shuffle", (shuffle,), tensors, {}, ("x",), ("y",))
    x = rng.standard_normal((1, 2, 2, 6)).astype(np.float32)
    y = FloatEngine(network).run({"x": x})["y"]
    assert np.array_equal(y, x[..., [0, 3, 1, 4, 2, 5]])


@pytest.mark.parametrize("function", ["hard_swish", "hard_sigmoid", "sigmoid"])
def test_functions_in_an_old_opset(function: str) -> None:
    neuron = Neuron(
        name="n",
        inputs=("x",),
        outputs=("y",),
        function=function,
        alpha=0.2,
        beta=0.5,  # type: ignore[arg-type]
    )
    tensors = {name: Tensor(name, (1, 50)) for name in "xy"}
    network = Network("n", (neuron,), tensors, {}, ("x",), ("y",))
    x = np.linspace(-5, 5, 50, dtype=np.float32)[None]
    wanted = {
        "hard_swish": x * np.clip(x / 6 + 0.5, 0, 1),
        "hard_sigmoid": np.clip(0.2 * x + 0.5, 0, 1),
        "sigmoid": 1 / (1 + np.exp(-x)),
    }
    y = FloatEngine(network).run({"x": x})["y"]
    np.testing.assert_allclose(y, wanted[function], rtol=1e-5, atol=1e-6)


def test_large_weights_stay_out_of_the_graph() -> None:
    weight = Constant("w", (600, 600), np.zeros((600, 600), np.float32))
    layer = FullyConnected(name="f", inputs=("x",), outputs=("y",), weight="w", output_channels=600)
    tensors = {name: Tensor(name, (1, 600)) for name in "xy"}
    network = Network("f", (layer,), tensors, {"w": weight}, ("x",), ("y",))
    written = write(network)
    assert len(written.model.SerializeToString()) < 1000
    assert np.shares_memory(written.weights["w"], weight.value())
