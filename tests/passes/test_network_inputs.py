"""Formats of inputs: a conversion in front of all readers, and sentences for what cannot be.

A resized network is the network that would have been read at that size, or it is refused.
"""

from collections.abc import Callable

import numpy as np
import onnx
import pytest
from onnx import helper

from hexsim.dlc.loading import load
from hexsim.errors import HexsimError
from hexsim.graph.ir import Layer, Network, Tensor
from hexsim.graph.network_ends import InputFormat
from hexsim.layers import (
    AxisSlice,
    ColourConversion,
    Concat,
    Elementwise,
    Neuron,
    Opaque,
    Pooling,
    Reshape,
    StridedSlice,
    Window,
)
from hexsim.onnx_io.float_engine import FloatEngine
from hexsim.onnx_io.read.reader import read
from hexsim.passes import optimize
from hexsim.passes.network_inputs import converted_tensor, resized, set_input_formats
from tests.onnx_io.write.emitters.pictures import bgr, picture
from tests.small_networks import Sketch


def _network(height: int = 4, width: int = 6, channels: int = 3, dtype: str = "float32") -> Network:
    """y = relu(x) + x, so that x has two readers."""
    shape = (1, height, width, channels)
    layers = (
        Neuron(name="act", inputs=("x",), outputs=("a",), function="clamp"),
        Elementwise(name="add", inputs=("a", "x"), outputs=("y",), kind="sum"),
    )
    tensors = {name: Tensor(name, shape, (0, 3, 1, 2), dtype) for name in "xay"}
    return Network("n", layers, tensors, {}, ("x",), ("y",))


@pytest.mark.parametrize(
    ("encoding", "shape"),
    [
        ("rgb", (1, 4, 6, 3)),
        ("rgba", (1, 4, 6, 4)),
        ("argb32", (1, 4, 6, 4)),
        ("nv21", (1, 6, 6, 1)),
    ],
)
def test_every_reader_reads_blue_green_red(encoding, shape) -> None:
    plain = _network()
    network = set_input_formats(plain, {}, {"x": encoding})
    network.check()
    assert network.inputs == ("x",)
    assert network.shape("x") == shape
    assert isinstance(network.layers[0], ColourConversion)
    assert converted_tensor(network.tensors["x"], network).name == "x.bgr"
    pixels = picture(encoding, 4, 6)
    (y,) = FloatEngine(network).run({"x": pixels}).values()
    (expected,) = FloatEngine(plain).run({"x": bgr(encoding, pixels)}).values()
    np.testing.assert_allclose(y, expected, atol=1e-3)


def test_nv21_is_of_type_image_unasked() -> None:
    network = set_input_formats(_network(), {}, {"x": "nv21"})
    assert network.input_formats == {"x": InputFormat("image", "nv21")}


def test_what_is_not_converted_is_only_reported() -> None:
    plain = _network()
    network = set_input_formats(plain, {"x": "opaque"}, {"x": "time_series"})
    assert network.layers == plain.layers
    assert network.input_format("x") == InputFormat("opaque", "time_series")
    assert converted_tensor(network.tensors["x"], network).name == "x"
    assert set_input_formats(plain, {"x": "default"}, {"x": "bgr"}) == plain


def test_a_converted_network_can_be_resized() -> None:
    network = set_input_formats(_network(), {}, {"x": "nv21"})
    larger = resized(network, {"x": _source(network, 12, 10)})
    larger.check()
    assert larger.shape("y") == (1, 8, 10, 3)
    with pytest.raises(HexsimError, match="is not the shape of a picture in nv21"):
        resized(network, {"x": _source(network, 11, 10)})


def _source(network: Network, rows: int, columns: int) -> tuple[int, ...]:
    shape = (1, rows, columns, 1)
    return tuple(shape[network.tensors["x"].order.index(axis)] for axis in range(4))


def test_names_that_are_taken_are_left_alone() -> None:
    network = _network()
    taken = [layer.replace(name="x.color_space_conversion") for layer in network.layers[:1]]
    network = network.with_layers([*taken, *network.layers[1:]])
    names = [layer.name for layer in set_input_formats(network, {}, {"x": "rgb"}).layers]
    assert len(set(names)) == 3


@pytest.mark.parametrize(
    ("network", "types", "encodings", "sentence"),
    [
        (_network(), {"z": "image"}, {}, "unknown input of network 'n' 'z'"),
        (_network(channels=4), {}, {"x": "rgb"}, "stored as 1x4x6x4; a colour conversion needs"),
        (_network(height=5), {}, {"x": "nv21"}, "NV21 needs an even height and width, not 5x6"),
        (_network(), {"x": "default"}, {"x": "nv21"}, "so it cannot be of type default"),
        (_network(dtype="int64"), {"x": "image"}, {}, "holds int64"),
    ],
)
def test_mistakes(network, types, encodings, sentence) -> None:
    with pytest.raises(HexsimError, match=sentence):
        set_input_formats(network, types, encodings)


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
