"""A resized network is the network that would have been read at that size, or it is refused."""

from collections.abc import Callable

import numpy as np
import onnx
import pytest
from onnx import helper

from hexsim.dlc.loading import load
from hexsim.errors import HexsimError
from hexsim.graph.ir import Layer, Tensor
from hexsim.layers import (
    AxisSlice,
    Concat,
    Elementwise,
    Opaque,
    Pooling,
    Reshape,
    StridedSlice,
    Window,
)
from hexsim.onnx_io.read.reader import read
from hexsim.passes import optimize
from hexsim.passes.resizing import resized
from tests.small_networks import Sketch


@pytest.mark.parametrize("name", ["mobilenet_v2", "resnet50", "squeezenet1_1"])
@pytest.mark.parametrize("size", [160, 256])
def test_equals_loading_at_that_size(name: str, size: int) -> None:
    network = load(name).network
    dims = {network.inputs[0]: (1, 3, size, size)}
    expected = load(name, input_dims=dims).network
    got = resized(network, dims)
    got.check()
    assert got.layers == expected.layers
    assert got.tensors == expected.tensors


def test_symbolic_sizes_can_be_changed_afterwards(
    onnx_model: Callable[..., onnx.ModelProto],
) -> None:
    nodes = [
        helper.make_node("MaxPool", ["x"], ["p"], kernel_shape=[2, 2], strides=[2, 2]),
        helper.make_node("Sigmoid", ["x"], ["s"]),
        helper.make_node("MaxPool", ["s"], ["q"], kernel_shape=[2, 2], strides=[2, 2]),
        helper.make_node("Add", ["p", "q"], ["y"]),
    ]
    model = onnx_model(nodes, {"x": (1, 2, "h", "w")}, ["y"])
    small, large = (optimize(read(model, input_dims={"x": (1, 2, n, 2 * n)})) for n in (8, 12))
    assert resized(small, {"x": (1, 2, 12, 24)}) == large


def test_a_batch_can_be_changed() -> None:
    net = Sketch((1, 8, 8, 3))
    network = net.network(net.dense(net.pool(net.conv("in", 4)), 5))
    assert resized(network, {"in": (7, 3, 8, 8)}).tensors[network.outputs[0]].shape == (7, 5)


def _reshaping(net: Sketch) -> str:
    return net.add(Reshape, "in", shape=(1, 192))


def _opaque(net: Sketch) -> str:
    return net.add(Opaque, "in", op_type="Erf", node=b"", shapes=((1, 8, 8, 3),))


def _slicing(net: Sketch) -> str:
    return net.add(StridedSlice, "in", parts=(AxisSlice(1, 0, 4),))


def _large_window(net: Sketch) -> str:
    return net.pool("in", kernel=6)


@pytest.mark.parametrize(
    ("build", "dims", "sentence"),
    [
        (_reshaping, (1, 3, 9, 8), "reshape.*target shape"),
        (_opaque, (1, 3, 9, 8), "opaque.*only known at conversion"),
        (_slicing, (1, 3, 9, 8), "strided_slice.*fixed part of an axis"),
        (_large_window, (1, 3, 1, 1), "pooling.*window spans 6 pixels of an axis that has 5"),
        (lambda net: net.dense("in", 4), (1, 3, 9, 8), "weights are for 192 inputs"),
        (lambda net: net.conv("in", 4), (1, 5, 8, 8), "weights are for 3 channels"),
    ],
)
def test_layers_that_cannot_follow_are_named(
    build: Callable[[Sketch], str], dims: tuple[int, ...], sentence: str
) -> None:
    net = Sketch((1, 8, 8, 3))
    network = net.network(build(net))
    with pytest.raises(HexsimError, match=sentence):
        resized(network, {"in": dims})


@pytest.mark.parametrize(
    ("kind", "attributes", "sentence"),
    [(Concat, {"axis": 3}, "same size"), (Elementwise, {"kind": "sum"}, "do not broadcast")],
)
def test_inputs_that_no_longer_fit_each_other(
    kind: type[Layer], attributes: dict[str, object], sentence: str
) -> None:
    net = Sketch((1, 8, 8, 3))
    floored, rounded_up = net.pool("in", "max", 2, 2), net.pool("in", "max", 1, 2)
    network = net.network(net.add(kind, floored, rounded_up, **attributes))
    resized(network, {"in": (1, 3, 12, 12)}).check()
    with pytest.raises(HexsimError, match=sentence):
        resized(network, {"in": (1, 3, 9, 9)})


def test_a_window_over_the_whole_input_is_global_and_others_stay() -> None:
    net = Sketch((1, 8, 8, 3))
    network = net.network(net.pool(net.pool("in", "max", 2, 2), "average", 4, 1))
    whole, part = network.layers[1], network.layers[0]
    assert isinstance(whole, Pooling)
    whole = whole.replace(window=Window((4, 4)))
    network = network.with_layers([part, whole], [Tensor(whole.output, (1, 1, 1, 3))])
    got = resized(network, {"in": (1, 3, 10, 14)})
    got.check()
    assert got.layers == (part, whole.replace(window=Window((5, 7))))


def test_wrong_names_and_ranks() -> None:
    net = Sketch((1, 8, 8, 3))
    network = net.network(net.conv("in", 4))
    with pytest.raises(HexsimError, match="unknown input of network 'sketch' 'on'; did you"):
        resized(network, {"on": (1, 3, 8, 8)})
    with pytest.raises(HexsimError, match="'in' has 4 dimensions, 1,8,8 has 3"):
        resized(network, {"in": (1, 8, 8)})


def test_a_scale_of_positions_is_for_their_number(
    onnx_model: Callable[..., onnx.ModelProto],
) -> None:
    nodes = [helper.make_node("LayerNormalization", ["x", "g"], ["y"], axis=-2)]
    network = read(onnx_model(nodes, {"x": (1, 5, 4)}, ["y"], {"g": np.ones((5, 4))}))
    with pytest.raises(HexsimError, match="its scale and shift are for other sizes"):
        resized(network, {"x": (1, 6, 4)})
    nodes = [helper.make_node("LayerNormalization", ["x", "g"], ["y"])]
    network = read(onnx_model(nodes, {"x": (1, 5, 4)}, ["y"], {"g": np.ones(4)}))
    assert resized(network, {"x": (1, 6, 4)}).tensors["y"].shape == (1, 6, 4)
