"""A release that does not know SiLU as one layer runs a sigmoid and a product."""

from __future__ import annotations

import numpy as np
import pytest
from onnx import ModelProto, TensorProto, helper

import hexsim
from hexsim.dlc.loading import load
from hexsim.layers import Elementwise, Neuron
from hexsim.passes.unfuse_functions import unfuse_functions


def silu_model() -> ModelProto:
    nodes = [
        helper.make_node("Sigmoid", ["x"], ["gate"], name="Sigmoid_1"),
        helper.make_node("Mul", ["x", "gate"], ["y"], name="Mul_2"),
    ]
    shape = [1, 32, 4, 4]
    graph = helper.make_graph(
        nodes,
        "silu",
        [helper.make_tensor_value_info("x", TensorProto.FLOAT, shape)],
        [helper.make_tensor_value_info("y", TensorProto.FLOAT, shape)],
    )
    return helper.make_model(graph, opset_imports=[helper.make_opsetid("", 13)], ir_version=8)


def test_the_layers_have_the_names_of_the_file() -> None:
    network = load(silu_model()).network
    assert [layer.name for layer in network.layers] == ["Sigmoid_1"]
    sigmoid, product = unfuse_functions(network, ()).layers
    assert isinstance(sigmoid, Neuron)
    assert isinstance(product, Elementwise)
    assert (sigmoid.name, sigmoid.function) == ("Sigmoid_1", "sigmoid")
    assert (product.name, product.kind, product.outputs) == ("Mul_2", "product", ("y",))
    assert product.inputs == (*sigmoid.inputs, sigmoid.output)


def test_a_release_that_fuses_it_and_a_compiled_layer_keep_it() -> None:
    network = load(silu_model()).network
    assert unfuse_functions(network, ("silu",)) is network
    assert unfuse_functions(network, (), ("Sigmoid_1",)) is network


@pytest.mark.parametrize("runtime", ["cpu", "dsp"])
def test_both_releases_compute_the_function(runtime: hexsim.Runtime) -> None:
    x = np.linspace(-6, 6, 512, dtype=np.float32).reshape(1, 32, 4, 4)
    model = hexsim.quantize(load(silu_model()), [x]) if runtime == "dsp" else load(silu_model())
    expected = x / (1 + np.exp(-x))
    for stack in ("snpe-1.30", "snpe-1.63"):
        (outputs,) = hexsim.run(model, [x], "sd865", runtime, stack=stack)
        (y,) = outputs.values()
        # Two steps of 8 bits: of the result, and of the sigmoid times the largest input.
        assert np.abs(y - expected).max() < (1e-5 if runtime == "cpu" else 0.08)
