"""A function of one number is found however a file spells it, and nothing else is.

A release that does not know SiLU as one layer runs a sigmoid and a product.

Relu, Relu6 and Clip move into the layer before them.
"""

from __future__ import annotations

import math
from collections.abc import Callable

import numpy as np
import onnx
import pytest
from hypothesis import given
from hypothesis import strategies as st
from onnx import ModelProto, TensorProto, helper

import hexsim
from hexsim.dlc.loading import load
from hexsim.layers import RELU, Clamp, Elementwise, Neuron
from hexsim.onnx_io.float_engine import FloatEngine
from hexsim.onnx_io.read.reader import read
from hexsim.passes import optimize
from hexsim.passes.functions import _matching_function, unfuse_functions
from tests.conftest import compare, make_model, run_onnx
from tests.thorough import examples

Make = Callable[..., onnx.ModelProto]
Agree = Callable[..., object]
Steps = list[tuple[str, str, str] | tuple[str, str, str, dict[str, float]]]


def nodes_of(steps: Steps) -> list[onnx.NodeProto]:
    """Nodes from (operator, inputs, output, attributes)."""
    return [
        helper.make_node(op, inputs.split(), [out], name=out, **(rest[0] if rest else {}))
        for op, inputs, out, *rest in steps
    ]


C = {
    "half": 0.5, "one": 1.0, "two": 2.0, "three": 3.0, "six": 6.0, "zero": 0.0, "minus": -1.0,
    "sixth": 1 / 6, "root": math.sqrt(2), "inverse": math.sqrt(0.5), "cubic": 0.044715,
    "steep": math.sqrt(2 / math.pi), "quick": 1.702, "slope": 0.1,
}  # fmt: skip

SPELLED: dict[str, tuple[str, Steps]] = {
    "hard swish, gate": (
        "hard_swish",
        [("HardSigmoid", "x", "g", {"alpha": 1 / 6, "beta": 0.5}), ("Mul", "g x", "y")],
    ),
    "hard swish, clip": (
        "hard_swish",
        [("Add", "x three", "a"), ("Clip", "a zero six", "b"), ("Mul", "x b", "c"),
         ("Div", "c six", "y")],
    ),
    "hard swish, divided first": (
        "hard_swish",
        [("Add", "three x", "a"), ("Clip", "a zero six", "b"), ("Div", "b six", "c"),
         ("Mul", "c x", "y")],
    ),
    "hard swish, multiplied": (
        "hard_swish",
        [("Add", "x three", "a"), ("Max", "a zero", "b"), ("Min", "b six", "c"),
         ("Mul", "c sixth", "d"), ("Mul", "d x", "y")],
    ),
    "hard sigmoid": (
        "hard_sigmoid",
        [("Add", "x three", "a"), ("Clip", "a zero six", "b"), ("Div", "b six", "y")],
    ),
    "silu": ("silu", [("Sigmoid", "x", "g"), ("Mul", "x g", "y")]),
    "quick gelu": ("silu", [("Mul", "x quick", "a"), ("Sigmoid", "a", "g"), ("Mul", "x g", "y")]),
    "mish": ("mish", [("Softplus", "x", "a"), ("Tanh", "a", "b"), ("Mul", "x b", "y")]),
    "mish in parts": (
        "mish",
        [("Exp", "x", "e"), ("Add", "e one", "a"), ("Log", "a", "b"), ("Tanh", "b", "c"),
         ("Mul", "x c", "y")],
    ),
    "gelu": (
        "gelu",
        [("Div", "x root", "a"), ("Erf", "a", "b"), ("Add", "b one", "c"), ("Mul", "x c", "d"),
         ("Mul", "d half", "y")],
    ),
    "gelu, other order": (
        "gelu",
        [("Mul", "x half", "h"), ("Mul", "x inverse", "a"), ("Erf", "a", "b"),
         ("Add", "one b", "c"), ("Mul", "h c", "y")],
    ),
    "gelu by tanh": (
        "gelu_tanh",
        [("Pow", "x three", "p"), ("Mul", "p cubic", "a"), ("Add", "x a", "b"),
         ("Mul", "b steep", "c"), ("Tanh", "c", "d"), ("Add", "d one", "e"),
         ("Mul", "x half", "h"), ("Mul", "h e", "y")],
    ),
    "gelu by tanh, products": (
        "gelu_tanh",
        [("Mul", "x x", "s"), ("Mul", "s cubic", "a"), ("Add", "a one", "b"), ("Mul", "b x", "c"),
         ("Mul", "c steep", "d"), ("Tanh", "d", "e"), ("Add", "e one", "f"), ("Mul", "f x", "g"),
         ("Mul", "g half", "y")],
    ),
    "softplus": ("softplus", [("Exp", "x", "e"), ("Add", "one e", "a"), ("Log", "a", "y")]),
    "sigmoid": (
        "sigmoid",
        [("Neg", "x", "n"), ("Exp", "n", "e"), ("Add", "e one", "a"), ("Reciprocal", "a", "y")],
    ),
    "softsign": ("softsign", [("Abs", "x", "a"), ("Add", "a one", "b"), ("Div", "x b", "y")]),
    "leaky relu": ("leaky_relu", [("Mul", "x slope", "a"), ("Max", "x a", "y")]),
    "square": ("square", [("Mul", "x x", "y")]),
    "absolute value": ("abs", [("Neg", "x", "n"), ("Max", "x n", "y")]),
    "relu": ("clamp", [("Max", "x zero", "y")]),
    "bounds": ("clamp", [("Max", "x minus", "a"), ("Min", "a half", "y")]),
}  # fmt: skip


@pytest.mark.parametrize("case", SPELLED)
@pytest.mark.parametrize("behind", ["Identity", "Tanh"])
def test_what_a_file_spells(case: str, behind: str, onnx_model: Make, agree: Agree) -> None:
    function, steps = SPELLED[case]
    before = helper.make_node("Conv", ["i", "w"], ["x"], name="conv")
    after = helper.make_node(behind, ["y"], ["o"], name="behind")
    weights = {**C, "w": np.eye(3)[:, :, None, None] * 1.5}
    model = onnx_model([before, *nodes_of(steps), after], {"i": (1, 3, 8, 9)}, ["o"], weights)
    network = agree(model).optimized  # type: ignore[attr-defined]
    if function == "clamp":  # goes on into the convolution
        assert network.layers[0].clamp.limits
        return
    neuron = network.layers[1]
    assert isinstance(neuron, Neuron)
    assert neuron.function == function
    assert neuron.name == steps[0][2]
    assert neuron.fused[: len(steps) - 1] == tuple(out for _, _, out, *_ in steps[1:])
    assert len(network.layers) == (3 if behind == "Tanh" else 2)


@pytest.mark.parametrize(
    "steps",
    [
        [("Sigmoid", "x", "g"), ("Mul", "x g", "y"), ("Mul", "y g", "o")],  # read again
        [("Sigmoid", "x", "g"), ("Mul", "u g", "o")],  # another tensor
        [("Sigmoid", "x", "g"), ("Add", "x g", "o")],
        [("Mul", "x channels", "a"), ("Sigmoid", "a", "g"), ("Mul", "x g", "o")],
        [("Add", "x two", "a"), ("Clip", "a zero six", "b"), ("Mul", "x b", "c"),
         ("Div", "c six", "o")],
        [("Div", "x root", "a"), ("Erf", "a", "b"), ("Add", "b two", "c"), ("Mul", "x c", "o")],
    ],
)  # fmt: skip
def test_what_is_no_function_of_ours(steps: Steps, onnx_model: Make, agree: Agree) -> None:
    weights = {**C, "channels": np.array([1.0, 2.0, 3.0]).reshape(3, 1, 1)}
    inputs = {"x": (1, 3, 8, 9), "u": (1, 3, 8, 9)}
    nodes = [*nodes_of(steps), helper.make_node("Identity", ["u"], ["p"])]
    network = agree(onnx_model(nodes, inputs, ["o", "p"], weights)).optimized  # type: ignore[attr-defined]
    functions = {layer.function for layer in network.layers if isinstance(layer, Neuron)}
    assert not functions & {"silu", "hard_swish", "gelu"}


@pytest.mark.parametrize(
    "steps",
    [
        [("Sqrt", "x", "a"), ("Pow", "a two", "y")],
        [("Log", "x", "a"), ("Exp", "a", "y")],
        [("Sqrt", "x", "a"), ("Mul", "a a", "b"), ("Add", "b zero", "y")],
        [("Neg", "x", "n"), ("Sqrt", "n", "a"), ("Sqrt", "x", "b"), ("Add", "a b", "y")],
    ],
)
def test_what_has_no_result_below_zero_has_no_attributes_without_number(
    steps: Steps, onnx_model: Make
) -> None:
    """It is x above zero and NaN below, which no function of ours is."""
    network = optimize(read(onnx_model(nodes_of(steps), {"x": (1, 6)}, ["y"], C)))
    neurons = [layer for layer in network.layers if isinstance(layer, Neuron)]
    assert not {layer.function for layer in neurons} & {"elu", "leaky_relu", "clamp", "abs"}
    assert all(math.isfinite(layer.alpha) and math.isfinite(layer.beta) for layer in neurons)
    x = np.array([[0, 1e-3, 0.5, 1, 7, 400]], np.float32)
    (output,) = FloatEngine(network).run({"x": x}).values()
    (expected,) = run_onnx(onnx_model(nodes_of(steps), {"x": (1, 6)}, ["y"], C), {"x": x}).values()
    np.testing.assert_allclose(output, expected, rtol=1e-6)


def test_a_root_is_found_although_half_of_its_numbers_have_none(onnx_model: Make) -> None:
    steps: Steps = [("Sqrt", "x", "a"), ("Div", "one a", "y")]
    network = optimize(read(onnx_model(nodes_of(steps), {"x": (1, 4)}, ["y"], C)))
    (layer,) = network.layers
    assert isinstance(layer, Neuron)
    assert layer.function == "rsqrt"


def test_an_output_inside_keeps_the_parts(onnx_model: Make, agree: Agree) -> None:
    nodes = nodes_of([("Sigmoid", "x", "g"), ("Mul", "x g", "y")])
    network = agree(onnx_model(nodes, {"x": (1, 4)}, ["y", "g"])).optimized  # type: ignore[attr-defined]
    assert [type(layer) for layer in network.layers] == [Neuron, Elementwise]


def test_quick_gelu_keeps_its_factor(onnx_model: Make, agree: Agree) -> None:
    nodes = nodes_of(SPELLED["quick gelu"][1])
    (layer,) = agree(onnx_model(nodes, {"x": (1, 4)}, ["y"], C)).optimized.layers  # type: ignore[attr-defined]
    assert layer.alpha == pytest.approx(1.702, rel=1e-7)


@given(st.data())
@examples(150)
def test_any_tree_of_functions_stays_what_it_computes(data: st.DataObject) -> None:
    tensors = ["x"]
    steps: Steps = []
    for number in range(data.draw(st.integers(1, 6))):
        out = f"t{number}"
        kind = data.draw(st.sampled_from(["unary", "constant", "both"]))
        first = data.draw(st.sampled_from(tensors))
        if kind == "unary":
            ops = ["Sigmoid", "Tanh", "Relu", "Neg", "Abs", "Softplus", "Erf", "HardSigmoid"]
            steps.append((data.draw(st.sampled_from(ops)), first, out))
        else:
            second = data.draw(st.sampled_from([*C] if kind == "constant" else tensors))
            operator = data.draw(st.sampled_from(["Add", "Mul", "Sub", "Max", "Min"]))
            pair = [first, second] if data.draw(st.booleans()) else [second, first]
            steps.append((operator, " ".join(pair), out))
        tensors.append(out)
    comparison = compare(make_model(nodes_of(steps), {"x": (2, 3, 4)}, [tensors[-1]], C))
    assert comparison.error_optimized <= 1e-5


@pytest.mark.parametrize("size", [1e-12, 1e-9, 1e-6, 1e-3])
def test_a_small_summand_is_no_slope(size: float) -> None:
    """It is the epsilon of a norm, or the least argument of a logarithm."""
    assert _matching_function(lambda x: x + size) is None
    assert _matching_function(lambda x: np.abs(x) + size) is None
    assert _matching_function(lambda x: 1 / (1 + np.exp(-x)) + size) is None
    assert _matching_function(lambda x: np.maximum(x, 0) + size) is None


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


node = helper.make_node
rng = np.random.default_rng(4)
WEIGHTS = {
    "w": rng.standard_normal((3, 3, 1, 1)),
    "m": rng.standard_normal((5, 5)),
    "v": rng.random(3) + 0.1,
    "lo": 0.0,
    "hi": 6.0,
    "half": 0.5,
}


@pytest.mark.parametrize(
    "producer",
    [
        node("Conv", ["x", "w"], ["a"], name="p"),
        node("MatMul", ["x", "m"], ["a"], name="p"),
        node("Add", ["x", "x"], ["a"], name="p"),
        node("BatchNormalization", ["x", "v", "v", "v", "v"], ["a"], name="p"),
    ],
    ids=lambda producer: producer.op_type,
)
def test_clamps_fuse(producer: onnx.NodeProto, onnx_model: Make, agree: Callable) -> None:
    nodes = [
        producer,
        node("Relu", ["a"], ["b"], name="relu"),
        node("Clip", ["b", "", "hi"], ["y"], name="six"),
    ]
    shape = (2, 5) if producer.op_type == "MatMul" else (1, 3, 4, 5)
    optimized = agree(onnx_model(nodes, {"x": shape}, ["y"], WEIGHTS)).optimized
    (layer,) = optimized.layers
    assert (layer.name, layer.fused, layer.output) == ("p", ("relu", "six"), "y")
    assert layer.clamp == Clamp(0.0, 6.0)


def test_two_clamps_become_one(onnx_model: Make, agree: Callable) -> None:
    nodes = [node("Clip", ["x", "half", "hi"], ["a"]), node("Clip", ["a", "lo", ""], ["y"])]
    optimized = agree(onnx_model(nodes, {"x": (1, 9)}, ["y"], WEIGHTS)).optimized
    (layer,) = optimized.layers
    assert isinstance(layer, Neuron)
    assert layer.clamp == Clamp(0.5, 6.0)


def test_a_tensor_that_others_read_keeps_its_clamp_apart(onnx_model: Make, agree: Callable) -> None:
    nodes = [
        node("Conv", ["x", "w"], ["a"]),
        node("Relu", ["a"], ["b"]),
        node("Add", ["a", "b"], ["y"]),
    ]
    optimized = agree(onnx_model(nodes, {"x": (1, 3, 4, 5)}, ["y"], WEIGHTS)).optimized
    assert [layer.type for layer in optimized.layers] == [
        "convolutional",
        "neuron",
        "elementwise_binary_op",
    ]


def test_a_pooling_takes_no_clamp(onnx_model: Make, agree: Callable) -> None:
    nodes = [node("MaxPool", ["x"], ["a"], kernel_shape=[2, 2]), node("Relu", ["a"], ["y"])]
    optimized = agree(onnx_model(nodes, {"x": (1, 3, 4, 5)}, ["y"])).optimized
    assert [layer.type for layer in optimized.layers] == ["pooling", "neuron"]
    assert optimized.layers[1].clamp == RELU
