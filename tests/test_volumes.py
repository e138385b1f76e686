"""A quantised 3-D convolution is one sum of integers: near its float self, on the DSP alone."""

import numpy as np
import onnx
from onnx import helper, numpy_helper

import hexsim
from hexsim.deployment import deploy
from hexsim.deployment.platform import Platform


def _model(seed: int) -> onnx.ModelProto:
    rng = np.random.default_rng(seed)
    weights = {
        "w": rng.normal(0, 0.2, (6, 4, 3, 3, 3)),
        "d": rng.normal(0, 0.2, (6, 1, 3, 3, 3)),
    }
    nodes = [
        helper.make_node("Conv", ["x", "w"], ["a"], pads=[1] * 6, name="conv"),
        helper.make_node("Relu", ["a"], ["r"]),
        helper.make_node("Conv", ["r", "d"], ["c"], pads=[2] * 6, dilations=[2] * 3, group=6),
        helper.make_node("Add", ["c", "r"], ["s"]),
        helper.make_node("MaxPool", ["s"], ["p"], kernel_shape=[2] * 3, strides=[2] * 3),
        helper.make_node("GlobalAveragePool", ["p"], ["y"]),
    ]
    graph = helper.make_graph(
        nodes,
        "volumes",
        [helper.make_tensor_value_info("x", onnx.TensorProto.FLOAT, [1, 4, 6, 8, 8])],
        [helper.make_tensor_value_info("y", onnx.TensorProto.FLOAT, None)],
        [numpy_helper.from_array(a.astype(np.float32), n) for n, a in weights.items()],
    )
    return helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)])


def test_volumes_run_in_one_subnet_near_their_floats() -> None:
    model = hexsim.load(_model(3))
    x = np.random.default_rng(4).normal(size=(1, 4, 6, 8, 8)).astype(np.float32)
    coded = hexsim.quantize(model, [x])
    for chip in ("sd835", "sd865"):
        (subnet,) = deploy(coded, Platform.load(chip), "dsp").subnets
        assert subnet.engine == "hvx"
    floats, integers = (
        hexsim.simulate(given, "sd865", runtime, x).outputs
        for given, runtime in ((model, "cpu"), (coded, "dsp"))
    )
    assert floats is not None
    assert integers is not None
    assert np.abs(integers["y"] - floats["y"]).max() <= 3 * coded.activations["y"].delta


def test_what_is_joined_has_the_codes_of_its_input() -> None:
    coded = hexsim.quantize(hexsim.load(_model(3)))
    joined = [name for name in coded.activations if name.endswith(".joined")]
    assert len(joined) == 2
    for name in joined:
        sources = {coded.activations[source].delta for source in _sources(coded.network, name)}
        assert sources == {coded.activations[name].delta}


def _sources(network, name):
    return network.producers[name].inputs
