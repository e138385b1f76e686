import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from hexsim.errors import HexsimError
from hexsim.layers import ColourConversion
from hexsim.layers.images import CONVERTED
from hexsim.lowering.movement import (
    LoweredChannelPick,
    LoweredNv21,
    lower_colour_conversion,
)
from hexsim.lowering.source import QuantizedSource
from hexsim.quantization.encodings import Encoding
from tests.int8.drawn import arrays, assert_equals_reference, operands
from tests.int8.single_layer import quantized, subnet_of
from tests.onnx_io.write.emitters.pictures import bgr, picture
from tests.thorough import examples

TABLES = st.none() | arrays((256,))
BYTES = Encoding.from_range(0, 255)


def layer(encoding):
    return ColourConversion(
        name="c",
        inputs=("x",),
        outputs=("y",),
        input_encoding_in=encoding,
        input_encoding_out="bgr",
    )


@given(st.data())
@examples(50)
def test_channel_pick_equals_reference(data):
    channels = data.draw(st.integers(3, 4))
    shape = (data.draw(st.integers(1, 2)), 3, 5)
    call = LoweredChannelPick(
        layer="c",
        inputs=(data.draw(operands((*shape, channels))),),
        output=data.draw(operands((*shape, 3), "y")),
        channels=tuple(data.draw(st.permutations(range(channels))))[:3],
        table=data.draw(TABLES),
    )
    assert_equals_reference(call, [data.draw(arrays((*shape, channels)))])


@given(st.data())
@examples(50)
def test_nv21_equals_reference(data):
    batch, high, wide = (data.draw(st.integers(1, 3)) for _ in range(3))
    shape = (batch, 3 * high, 2 * wide, 1)
    matrix = data.draw(arrays((3, 3), np.int16)).astype(np.int32)
    call = LoweredNv21(
        layer="c",
        inputs=(data.draw(operands(shape)),),
        output=data.draw(operands((batch, 2 * high, 2 * wide, 3), "y")),
        matrix=matrix,
        table=data.draw(TABLES),
    )
    assert_equals_reference(call, [data.draw(arrays(shape))])


@pytest.mark.parametrize("encoding", CONVERTED)
def test_codes_are_the_colours_to_the_nearest_byte(encoding):
    pixels = picture(encoding, 8, 6)
    encodings = {"x": BYTES, "y": BYTES}
    model = quantized([layer(encoding)], {"x": pixels.shape}, {}, encodings, ["y"])
    result = subnet_of(model).run({"x": pixels})["y"]
    # The matrix has 13 fraction bits: 3 terms of at most 255 are off by less than 0.05.
    assert np.abs(result - bgr(encoding, pixels)).max() <= (0.55 if encoding == "nv21" else 0)


def test_worked_example_of_nv21():
    """Y 100, V 200, U 50: 97.776 + (-157.404, -28.038, 114.912), of the contract."""
    pixels = np.array([100, 100, 100, 100, 200, 50], np.float32).reshape(1, 3, 2, 1)
    encodings = {"x": BYTES, "y": BYTES}
    model = quantized([layer("nv21")], {"x": pixels.shape}, {}, encodings, ["y"])
    assert subnet_of(model).run({"x": pixels})["y"][0, 1, 1].tolist() == [0, 70, 213]


def test_another_encoding_of_the_output_is_a_rescale():
    pixels = picture("nv21", 4, 4)
    encodings = {"x": BYTES, "y": Encoding.from_range(0, 510)}
    model = quantized([layer("nv21")], {"x": pixels.shape}, {}, encodings, ["y"])
    result = subnet_of(model).run({"x": pixels})["y"]
    assert np.abs(result - bgr("nv21", pixels)).max() <= 1.6


def test_nv21_codes_must_be_bytes():
    encodings = {"x": Encoding.from_range(0, 1), "y": BYTES}
    model = quantized([layer("nv21")], {"x": (1, 3, 2, 1)}, {}, encodings, ["y"])
    with pytest.raises(HexsimError, match=r"layer 'c': NV21 input 'x' .* must be the bytes"):
        lower_colour_conversion(layer("nv21"), QuantizedSource(model))
