"""The default rule is the encoding of the range.

Worked examples of symmetric encodings.
"""

import numpy as np
import pytest

from hexsim.quantization.encodings import Encoding
from hexsim.quantization.observation import Observation
from hexsim.quantization.rules.rule import MinMax, Symmetric


def test_the_official_example() -> None:
    encoding = MinMax().encode(Observation(-1.8, 0.5))
    assert encoding == Encoding.from_range(-1.8, 0.5)
    assert encoding.offset == -200


def test_bits_and_minimum_range_are_passed_on() -> None:
    encoding = MinMax(4, 0.0015).encode(Observation(0.0, 0.0))
    assert (encoding.bitwidth, encoding.max) == (4, 0.0015)


@pytest.mark.parametrize(
    ("low", "high", "bits", "delta", "emin", "emax"),
    [
        (-1.27, 0.5, 8, 0.01, -1.28, 1.27),
        (-0.5, 1.27, 8, 0.01, -1.28, 1.27),
        (0.2, 2.54, 8, 0.02, -2.56, 2.54),
        (-0.7, 0.3, 4, 0.1, -0.8, 0.7),
        (0.0, 0.0, 8, 0.01 / 127, -1.28 / 127, 0.01),
        (-0.003, 0.001, 8, 0.007 / 127, -0.896 / 127, 0.007),
    ],
)
def test_worked_examples(
    low: float, high: float, bits: int, delta: float, emin: float, emax: float
) -> None:
    encoding = Symmetric(bits).encode(Observation(low, high))
    np.testing.assert_allclose((encoding.delta, encoding.min, encoding.max), (delta, emin, emax))
    assert encoding.symmetric
    assert encoding.offset == -(2 ** (bits - 1))
