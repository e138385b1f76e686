"""Codes of float inputs: Hexagon NN cuts mantissas short, hexsim rounds.

`of_library` is the library's rule in integers and gives all of its codes. hexsim keeps the rounding
of the contract at the edges of a subnet, which differs by one code at and near ties.
"""

import numpy as np
import pytest

from tests.hexagon_nn import vectors
from tests.hexagon_nn.through import of_pair

HIDDEN = 1 << 23
"""The leading one of a float32's mantissa."""


def parts(number):
    """Biased exponent and mantissa of float32 numbers, as int64."""
    bits = np.asarray(number, np.float32).view(np.uint32).astype(np.int64)
    return bits >> 23 & 255, (bits & HIDDEN - 1) | HIDDEN


def of_library(x, low, high):
    """Mantissas of a common exponent, from the smallest number on, times 2^32 over the range."""
    exponent, mantissa = parts(np.float32(high - low) * np.float32(256 / 255))
    common = exponent + 4
    span = mantissa >> 4
    low_exponent, low_mantissa = parts(-low)
    start = low_mantissa >> np.minimum(common - low_exponent, 31)
    exponents, mantissas = parts(x)
    short = mantissas >> np.minimum(common - exponents, 31)
    distance = np.where(np.signbit(x), -short, short) + start + (span >> 9)  # half a code
    scaled = distance * ((2**32 - 1) // span) >> 16
    return np.clip(scaled, 0, 2**16 - 1) >> 8


@pytest.mark.parametrize("number", range(24))
def test_rule_of_the_library(number):
    case = vectors.cases("v60_quantize")[number]
    codes = of_library(case["x"], *case["out_min_max"].astype(np.float32))
    np.testing.assert_array_equal(codes, case["library"])


def test_differences():
    """One code at most, downwards, within a twentieth of a tie."""
    different = 0
    for case in vectors.cases("v60_quantize"):
        encoding = of_pair(case["xe"])
        off = encoding.quantize(case["x"]).astype(int) - case["library"]
        place = case["x"].astype(np.float64) / encoding.delta - encoding.offset
        beyond_tie = (place - np.floor(place) - 0.5)[off != 0]
        assert set(off.ravel().tolist()) <= {0, 1}
        assert -1e-4 < beyond_tie.min() <= beyond_tie.max() < 0.05
        different += np.count_nonzero(off)
    assert different == 1865
