import itertools
from typing import get_args

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from hexsim.graph.ir import Network, Tensor
from hexsim.layers import Resize
from hexsim.layers.resize import CoordinateMode, NearestMode
from hexsim.lowering.resize import WEIGHT_BITS, LoweredBilinear, LoweredNearest, lower_resize
from hexsim.lowering.source import QuantizedSource
from hexsim.onnx_io.run.float_engine import FloatEngine
from hexsim.quantization.encodings import Encoding
from tests.int8.drawn import BITS, CODES, SEEDS, arrays, assert_equals_twin, operands, stages
from tests.int8.single_layer import assert_within, quantized, run_layer, subnet_of
from tests.thorough import examples

TARGETS = (
    {"scales": (2.0, 3.0)},
    {"scales": (1.7, 0.6)},
    {"scales": (0.5, 1.0)},
    {"size": (1, 17)},
    {"size": (14, 4)},
)


def layer_of(kind, **attributes):
    return Resize(name="r", inputs=("x",), outputs=("y",), kind=kind, **attributes)


@st.composite
def sampled(draw):
    bits, channels = draw(BITS), draw(st.sampled_from([1, 3, 16, 33]))
    batch, height, width = draw(st.integers(1, 2)), draw(st.integers(1, 6)), draw(st.integers(1, 6))
    x = draw(operands((batch, height, width, channels), bits=bits))
    wanted = (draw(st.integers(1, 9)), draw(st.integers(1, 9)))
    output = draw(operands((batch, *wanted, channels), "y", bits))
    return (
        x,
        output,
        draw(arrays(x.shape, CODES[bits])),
        np.random.default_rng(draw(SEEDS)),
    )


@given(sampled(), st.data())
@examples(80)
def test_nearest_equals_twin(case, data):
    x, output, codes, random = case
    rows, columns = (
        random.integers(0, x.shape[axis], output.shape[axis], np.int32) for axis in (1, 2)
    )
    table = data.draw(st.none() | arrays((2**x.bits,), CODES[x.bits]))
    call = LoweredNearest(
        layer="r", inputs=(x,), output=output, rows=rows, columns=columns, table=table
    )
    assert_equals_twin(call, [codes])


@given(sampled(), st.data())
@examples(100)
def test_bilinear_equals_twin(case, data):
    x, output, codes, random = case

    def between(axis):
        first, second = random.integers(0, x.shape[axis], (2, output.shape[axis]), np.int32)
        weights = random.choice([0, 1, 128, 511, 512], output.shape[axis])
        return np.stack([first, second, weights], axis=1).astype(np.int32)

    call = LoweredBilinear(
        layer="r",
        inputs=(x,),
        output=output,
        rows=between(1),
        columns=between(2),
        stage=data.draw(stages(1, x.bits, x.bits - 8)),
    )
    assert_equals_twin(call, [codes])


def in_floats(layer, x, shape):
    tensors = {"x": Tensor("x", x.shape), "y": Tensor("y", shape)}
    network = Network("one", (layer,), tensors, {}, ("x",), ("y",))
    return FloatEngine(network).run({"x": x})["y"]


@pytest.mark.parametrize("coordinates", get_args(CoordinateMode))
def test_nearest_moves_the_codes_that_onnxruntime_moves(coordinates):
    x = np.arange(7 * 10 * 3, dtype=np.float32).reshape(1, 7, 10, 3)
    encoding = Encoding.from_range(0, 255)
    for rounding, target in itertools.product(get_args(NearestMode), TARGETS):
        layer = layer_of("nearest", coordinates=coordinates, rounding=rounding, **target)
        model = quantized([layer], {"x": x.shape}, {}, {"x": encoding, "y": encoding}, ["y"])
        result = subnet_of(model).run({"x": x})["y"]
        np.testing.assert_array_equal(result, in_floats(layer, x, result.shape), f"{layer}")


@pytest.mark.parametrize("bits", [8, 16])
@pytest.mark.parametrize("coordinates", get_args(CoordinateMode))
def test_bilinear_is_close_to_float(coordinates, bits):
    x = np.random.default_rng(1).uniform(-1, 2, (2, 7, 10, 5)).astype(np.float32)
    for target in TARGETS:
        layer = layer_of("bilinear", coordinates=coordinates, **target)
        result, seen, step = run_layer(layer, {"x": x}, (-1, 2), bits=bits)
        expected = in_floats(layer, seen["x"].astype(np.float32), result.shape)
        # Either position is off by 2^-10 of a pixel, and neighbours by at most 3.
        assert_within(result, expected, step, 0.51 + 2 * 3 * 2.0**-10 / step)


def test_worked_example():
    """Codes 10 and 20 of delta 0.02, zero point 10, a third apart, of the contract."""
    layer = layer_of("bilinear", size=(1, 4), coordinates="align_corners")
    encodings = {
        "x": Encoding(8, -0.2, 4.9, 0.02, -10),
        "y": Encoding(8, 0.0, 2.55, 0.01, 0),
    }
    model = quantized([layer], {"x": (1, 1, 2, 1)}, {}, encodings, ["y"])
    call = lower_resize(layer, QuantizedSource(model))
    assert isinstance(call, LoweredBilinear)
    assert call.columns.tolist() == [[0, 1, 0], [0, 1, 171], [0, 1, 341], [1, 1, 0]]
    assert (int(call.stage.multiplier[0]), int(call.stage.shift[0])) == (16384, 0)
    x = np.array([0.0, 0.2], np.float32).reshape(1, 1, 2, 1)
    result = subnet_of(model).run({"x": x})["y"]
    assert encodings["y"].quantize(result).reshape(-1).tolist() == [0, 7, 13, 20]
    assert 1 << WEIGHT_BITS == 512
