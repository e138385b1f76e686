"""Layers without effect disappear; names at the edge of the network stay.

Only what an output depends on stays.
"""

from collections.abc import Callable

import numpy as np
import numpy.typing as npt
import onnx
import pytest
from onnx import helper

from hexsim.graph.ir import Network, Tensor
from hexsim.layers import Concat, Elementwise, Neuron, Permute, Reshape
from hexsim.onnx_io.read.reader import read
from hexsim.passes.no_ops import remove_dead_code, remove_no_ops

Make = Callable[..., onnx.ModelProto]
node = helper.make_node
IMAGE = {"x": (1, 3, 4, 5)}


def test_dropout_identity_and_unlimited_clips_go(onnx_model: Make, agree: Callable) -> None:
    nodes = [
        node("Relu", ["x"], ["a"]),
        node("Dropout", ["a"], ["b"]),
        node("Identity", ["b"], ["c"]),
        node("Clip", ["c"], ["d"]),
        node("Concat", ["d"], ["e"], axis=1),
        node("Sigmoid", ["e"], ["y"]),
    ]
    optimized = agree(onnx_model(nodes, IMAGE, ["y"], opset=11)).optimized
    assert [layer.name for layer in optimized.layers] == ["a", "y"]
    assert optimized.layers[1].inputs == ("a",)


def test_at_an_output_the_layer_before_takes_the_name(onnx_model: Make, agree: Callable) -> None:
    nodes = [
        node("Relu", ["x"], ["a"], name="r"),
        node("Identity", ["a"], ["early"]),
        node("Identity", ["a"], ["y"]),
        node("Tanh", ["early"], ["z"]),
    ]
    optimized = agree(onnx_model(nodes, IMAGE, ["z", "y"])).optimized
    assert [(layer.name, layer.inputs, layer.outputs) for layer in optimized.layers] == [
        ("r", ("x",), ("y",)),
        ("z", ("y",), ("z",)),
    ]


def test_a_no_op_between_input_and_output_stays(onnx_model: Make, agree: Callable) -> None:
    optimized = agree(onnx_model([node("Identity", ["x"], ["y"])], IMAGE, ["y"])).optimized
    assert [type(layer) for layer in optimized.layers] == [Reshape]


def test_a_no_op_between_two_outputs_stays(onnx_model: Make, agree: Callable) -> None:
    nodes = [node("Relu", ["x"], ["a"]), node("Identity", ["a"], ["y"])]
    optimized = agree(onnx_model(nodes, IMAGE, ["a", "y"])).optimized
    assert [type(layer) for layer in optimized.layers] == [Neuron, Reshape]


def test_permutes_that_undo_each_other_go(onnx_model: Make, agree: Callable) -> None:
    nodes = [
        node("Relu", ["x"], ["a"]),
        node("Transpose", ["a"], ["b"], perm=[0, 3, 2, 1]),
        node("Transpose", ["b"], ["c"], perm=[0, 3, 2, 1]),
        node("Transpose", ["b"], ["d"], perm=[2, 0, 1, 3]),
        node("Tanh", ["c"], ["y"]),
        node("Tanh", ["d"], ["z"]),
    ]
    agreement = agree(onnx_model(nodes, IMAGE, ["y", "z"]))
    once = remove_no_ops(agreement.read)
    once.check()
    permutes = [layer for layer in agreement.optimized.layers if isinstance(layer, Permute)]
    assert [layer.inputs for layer in permutes] == [("a",)]


def test_the_network_is_left_alone_without_no_ops(onnx_model: Make) -> None:
    network = read(onnx_model([node("Relu", ["x"], ["y"])], IMAGE, ["y"]))
    assert remove_no_ops(network).layers == network.layers


def test_a_concat_leaves_out_what_has_no_elements(onnx_model: Make, agree: Callable) -> None:
    nodes = [
        node("Relu", ["x"], ["a"]),
        node("Slice", ["a", "zero", "zero"], ["none"]),
        node("Concat", ["none", "a", "e", "a"], ["b"], axis=0),
        node("Concat", ["a", "e"], ["c"], axis=0),
        node("Concat", ["b", "c"], ["y"], axis=0),
    ]
    arrays = {"zero": np.array([0]), "e": np.zeros((0, 3, 4, 5), np.float32)}
    optimized = agree(onnx_model(nodes, IMAGE, ["y"], arrays)).optimized
    assert [(type(layer), layer.inputs) for layer in optimized.layers] == [
        (Neuron, ("x",)),
        (Concat, ("a", "a")),
        (Concat, ("b", "a")),
    ]


@pytest.mark.parametrize(
    ("operator", "bounds"),
    [
        ("Max", {"c": -np.inf}),
        ("Min", {"c": np.inf}),
        ("Max", {"c": np.full((3, 1, 1), -np.inf)}),
        ("Min", {"c": np.inf, "d": np.full((1, 3, 4, 5), np.inf)}),
    ],
)
def test_bounds_beyond_all_numbers_go(
    operator: str, bounds: dict[str, npt.ArrayLike], onnx_model: Make, agree: Callable
) -> None:
    nodes = [
        node("Relu", ["x"], ["a"]),
        node(operator, ["a", *bounds], ["b"]),
        node("Sigmoid", ["b"], ["y"]),
    ]
    optimized = agree(onnx_model(nodes, IMAGE, ["y"], bounds)).optimized
    assert [layer.name for layer in optimized.layers] == ["a", "y"]


def test_of_several_operands_the_infinite_ones_go(onnx_model: Make, agree: Callable) -> None:
    inputs = {**IMAGE, "u": (1, 3, 4, 5)}
    nodes = [node("Max", ["x", "c", "u"], ["y"])]
    optimized = agree(onnx_model(nodes, inputs, ["y"], {"c": -np.inf})).optimized
    assert [layer.inputs for layer in optimized.layers] == [("x", "u")]


@pytest.mark.parametrize(
    ("operator", "bound"),
    [
        ("Max", np.inf),
        ("Min", -np.inf),
        ("Max", np.array([-np.inf, 0, 1, -np.inf, 0])),
        ("Max", np.full((2, 1, 3, 4, 5), -np.inf)),
    ],
)
def test_bounds_that_change_something_stay(
    operator: str, bound: npt.ArrayLike, onnx_model: Make
) -> None:
    network = read(onnx_model([node(operator, ["x", "c"], ["y"])], IMAGE, ["y"], {"c": bound}))
    assert [type(layer) for layer in remove_no_ops(network).layers][-1] is Elementwise


def test_layers_that_nobody_reads_go() -> None:
    edges = {"a": ("x", "a"), "dead": ("a", "b"), "deader": ("b", "c"), "y": ("a", "y")}
    layers = tuple(
        Neuron(name=name, inputs=(source,), outputs=(target,), function="tanh")
        for name, (source, target) in edges.items()
    )
    tensors = {name: Tensor(name, (1, 2)) for name in ("x", "a", "b", "c", "y", "unread")}
    network = remove_dead_code(Network("n", layers, tensors, {}, ("x", "unread"), ("y",)))
    network.check()
    assert [layer.name for layer in network.layers] == ["a", "y"]
    assert set(network.tensors) == {"x", "unread", "a", "y"}
