"""Codes of float inputs: every code of Hexagon NN."""

import numpy as np
import pytest

from hexsim.int8.quantize_dequantize import QuantizeInput
from hexsim.quantization.encodings import input_codes
from tests.hexagon_nn import vectors
from tests.hexagon_nn.through import encoding


@pytest.mark.parametrize("number", range(24))
def test_codes_of_the_library(number):
    case = vectors.cases("v60_quantize")[number]
    read, codes = encoding(*case["xe"]), np.zeros(case["x"].shape, np.uint8)
    entrance = QuantizeInput(read, codes)
    entrance.take(case["x"])
    entrance.step()
    np.testing.assert_array_equal(codes, case["library"])
    np.testing.assert_array_equal(input_codes(case["x"], read), case["library"])


def test_differences_from_the_nearest_codes():
    """One code at most, downwards, within a twentieth of a tie."""
    different = 0
    for case in vectors.cases("v60_quantize"):
        read = encoding(*case["xe"])
        off = read.quantize(case["x"]).astype(int) - input_codes(case["x"], read)
        place = case["x"].astype(np.float64) / read.delta - read.offset
        beyond_tie = (place - np.floor(place) - 0.5)[off != 0]
        assert set(off.ravel().tolist()) <= {0, 1}
        assert -1e-4 < beyond_tie.min() <= beyond_tie.max() < 0.05
        different += np.count_nonzero(off)
    assert different == 1865
