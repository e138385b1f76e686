import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from hexsim.graph.ir import Network, Tensor
from hexsim.layers import ArgExtremum
from hexsim.layers.support import refusal
from hexsim.lowering.arg_extremum import LoweredArgExtremum
from hexsim.quantization.float_inputs import input_codes
from hexsim.quantization.options import QuantizationOptions
from hexsim.quantization.quantizer import quantize
from tests.int8.drawn import BITS, CODES, arrays, assert_equals_reference, operands
from tests.int8.single_layer import subnet_of
from tests.thorough import examples


@given(st.data())
@examples(60)
def test_equals_reference(data):
    shape = tuple(data.draw(st.lists(st.integers(1, 6), min_size=1, max_size=4)))
    axis, bits = data.draw(st.integers(0, len(shape) - 1)), data.draw(BITS)
    kept = data.draw(st.sampled_from([(1,), ()]))
    result = (*shape[:axis], *kept, *shape[axis + 1 :])
    few = data.draw(st.sampled_from([1, 2**bits]))  # equal codes, or hardly any
    call = LoweredArgExtremum(
        layer="arg",
        inputs=(data.draw(operands(shape, bits=bits)),),
        output=data.draw(operands(result, "y", bits)),
        kind=data.draw(st.sampled_from(["max", "min"])),
        axis=axis,
        codes=data.draw(arrays((shape[axis],), CODES[bits])),
    )
    codes = (data.draw(arrays(shape, CODES[bits])).astype(int) // few).astype(CODES[bits])
    assert_equals_reference(call, [codes])


def network(shape, axis):
    layer = ArgExtremum(name="arg", inputs=("x",), outputs=("y",), kind="max", axis=axis)
    (result,) = layer.output_shapes([shape])
    tensors = {"x": Tensor("x", shape), "y": Tensor("y", result)}
    return Network("arg", (layer,), tensors, {}, ("x",), ("y",))


@pytest.mark.parametrize("bits", [8, 16])
def test_places_are_whole_numbers_whatever_calibration_saw(bits):
    x = np.random.default_rng(2).normal(size=(1, 5, 6, 256)).astype(np.float32)
    x[0, 0, 0, 255] = 9
    quiet = np.zeros_like(x)
    options = QuantizationOptions(activation_bits=bits)
    model = quantize(network(x.shape, 3), [{"x": quiet}, {"x": x}], options)
    assert (model.activations["y"].delta, model.activations["y"].offset) == (1.0, 0)
    places = subnet_of(model).run({"x": x})["y"]
    assert places[0, 0, 0, 0] == 255
    seen = input_codes(x, model.activations["x"])
    np.testing.assert_array_equal(places[..., 0], seen.argmax(-1))


def test_more_places_than_codes_are_refused_by_name():
    wide = network((1, 2, 2, 257), 3)
    assert refusal(wide.layers[0], "dsp", wide) == (
        "codes of 8 bits tell 256 places along an axis apart"
    )
    assert refusal(wide.layers[0], "gpu", wide) is None
