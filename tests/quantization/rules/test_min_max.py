"""The default rule is the encoding of the range."""

from hexsim.quantization.encodings import Encoding
from hexsim.quantization.observation import Observation
from hexsim.quantization.rules.min_max import MinMax


def test_the_official_example() -> None:
    encoding = MinMax().encode(Observation(-1.8, 0.5))
    assert encoding == Encoding.from_range(-1.8, 0.5)
    assert encoding.offset == -200


def test_bits_and_minimum_range_are_passed_on() -> None:
    encoding = MinMax(4, 0.0015).encode(Observation(0.0, 0.0))
    assert (encoding.bitwidth, encoding.max) == (4, 0.0015)
