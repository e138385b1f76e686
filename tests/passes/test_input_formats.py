"""Formats of inputs: a conversion in front of all readers, and sentences for what cannot be."""

import numpy as np
import pytest

from hexsim.errors import HexsimError
from hexsim.graph.input_format import InputFormat
from hexsim.graph.ir import Network, Tensor
from hexsim.layers import ColourConversion, Elementwise, Neuron
from hexsim.onnx_io.float_engine import FloatEngine
from hexsim.passes.input_formats import converted_tensor, set_input_formats
from hexsim.passes.resizing import resized
from tests.onnx_io.write.emitters.pictures import bgr, picture


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
