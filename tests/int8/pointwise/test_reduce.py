import itertools

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from hexsim.errors import HexsimError
from hexsim.graph.ir import Network, Tensor
from hexsim.layers import ArgExtremum, Reduce
from hexsim.layers.support import refusal
from hexsim.lowering.reduce import LoweredArgExtremum, LoweredReduceExtremum, LoweredReduceSum
from hexsim.quantization.encodings import input_codes
from hexsim.quantization.options import QuantizationOptions
from hexsim.quantization.quantizer import quantize
from tests.int8.drawn import BITS, CODES, arrays, assert_equals_reference, operands, stages
from tests.int8.single_layer import assert_within, run_layer, subnet_of
from tests.thorough import examples

SHAPES = st.lists(st.integers(1, 5), min_size=1, max_size=4).map(tuple)
AXES = [axes for count in range(1, 5) for axes in itertools.combinations(range(4), count)]


@st.composite
def ends(draw):
    """Axes, an operand and its codes, and the output."""
    shape, bits = draw(SHAPES), draw(BITS)
    axes = tuple(sorted(draw(st.sets(st.integers(0, len(shape) - 1), min_size=1))))
    result = tuple(1 if axis in axes else size for axis, size in enumerate(shape))
    codes = draw(arrays(shape, CODES[bits]))
    return axes, draw(operands(shape, bits=bits)), codes, draw(operands(result, "y", bits))


@given(ends(), st.data())
@examples(60)
def test_sum_equals_reference(case, data):
    axes, x, codes, y = case
    stage = data.draw(stages(1, y.bits, y.bits - 8))
    call = LoweredReduceSum(layer="sum", inputs=(x,), output=y, axes=axes, stage=stage)
    assert_equals_reference(call, [codes])


@given(ends(), st.sampled_from(["max", "min"]), st.data())
@examples(60)
def test_extremum_equals_reference(case, kind, data):
    axes, x, codes, y = case
    table = data.draw(st.none() | arrays((2**y.bits,), CODES[y.bits]))
    call = LoweredReduceExtremum(
        layer="max", inputs=(x,), output=y, kind=kind, axes=axes, table=table
    )
    assert_equals_reference(call, [codes])


FLOAT = {"mean": np.mean, "sum": np.sum, "max": np.max, "min": np.min}


@pytest.mark.parametrize("axes", AXES, ids=str)
@pytest.mark.parametrize("kind", FLOAT)
@pytest.mark.parametrize("bits", [8, 16])
def test_close_to_float(kind, axes, bits):
    x = np.random.default_rng(7).normal(size=(2, 3, 4, 5)).astype(np.float32)
    layer = Reduce(name="r", inputs=("x",), outputs=("y",), kind=kind, axes=axes)
    result, seen, step = run_layer(layer, {"x": x}, (-30, 30), bits=bits)
    assert_within(result, FLOAT[kind](seen["x"], axis=axes, keepdims=True), step)


def test_refuses_more_codes_than_a_sum_holds():
    layer = Reduce(name="r", inputs=("x",), outputs=("y",), kind="sum", axes=(0,))
    x = np.zeros(2**31 // 255 + 1, np.float32)
    x[0] = 1
    with pytest.raises(HexsimError, match="layer 'r' adds 8421505 codes up"):
        run_layer(layer, {"x": x}, (0, 1))


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
