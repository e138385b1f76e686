"""A Convert layer is the rescale rule at every code."""

import numpy as np
import pytest

from hexsim.layers import Convert
from hexsim.quantization.encodings import Encoding
from tests.int8.single_layer import lowered, quantized

CONVERT = Convert(name="c", inputs=("x",), outputs=("y",))


def _table(x, y):
    model = quantized([CONVERT], {"x": (1, 4)}, {}, {"x": x, "y": y}, ["y"])
    _, (call,) = lowered(model)
    return call.tables[0]


@pytest.mark.parametrize(("low", "high"), [(-1.8, 0.5), (0, 6), (-3, 0)])
def test_widening_over_one_range_is_times_257(low, high):
    x = Encoding.from_range(low, high)
    y = Encoding.from_range(x.min, x.max, 16)
    np.testing.assert_array_equal(_table(x, y), 257 * np.arange(256))
    assert _table(x, y).dtype == np.uint16


@pytest.mark.parametrize(("low", "high"), [(-1.8, 0.5), (0, 6), (-3, 0)])
def test_narrowing_over_one_range_takes_the_nearest_code(low, high):
    x = Encoding.from_range(low, high, 16)
    y = Encoding.from_range(x.min, x.max)
    table = _table(x, y)
    assert table.dtype == np.uint8
    real = x.dequantize(np.arange(65536)).astype(np.float64)
    inside = (real >= y.min) & (real <= y.max)
    error = np.abs(y.dequantize(table) - real)[inside]
    # Half a step, and what a factor of 20 bits (4080 for 4080.06) loses: one code of 16 bits.
    assert error.max() <= y.delta * (0.5 + 1.5 / 257)


def test_equal_encodings_keep_the_codes():
    x = Encoding.from_range(-1, 1, 16)
    np.testing.assert_array_equal(_table(x, x), np.arange(65536))
