"""Sums of computed operands whose output is coarse; layers are in tests/int8/test_headroom.py."""

import numpy as np
import pytest

from hexsim.errors import HexsimError
from hexsim.layers import RELU, Clamp
from hexsim.lowering.headroom import requantize_sums
from hexsim.lowering.requantize import requantize
from hexsim.quantization.encodings import Encoding


def encoding(delta, zero_point):
    return Encoding(8, -zero_point * delta, (255 - zero_point) * delta, delta, -zero_point)


def same(first, other):
    return all(
        np.array_equal(getattr(first, name), getattr(other, name))
        for name in ("preload", "multiplier", "shift", "low", "high", "fraction_bits")
    )


@pytest.mark.parametrize("fraction_bits", [0, 8, 16])
def test_sums_that_fit_are_requantised_as_ever(fraction_bits):
    output, steps = encoding(0.02, 128), np.array([1e-3, 1e-6])
    requantized = requantize_sums("p", steps, 65025, output, RELU, fraction_bits)
    assert same(requantized, requantize(steps, output, RELU, fraction_bits=fraction_bits))


def test_a_zero_point_of_zero_fits_any_step():
    output = encoding(0.02, 0)
    assert same(requantize_sums("p", 1e-30, 65025, output), requantize(1e-30, output))


def test_the_worked_number_of_the_contract():
    stage = requantize_sums("p", 1e-6 * 1e-6, 255 * 255, encoding(0.01, 128))
    assert (stage.multiplier[0], stage.shift[0], stage.preload[0]) == (129, 0, 2130836488)
    assert stage.apply(np.array([2130836488 + 65025])) == 128


def test_sums_that_cannot_move_the_output_are_zero():
    stage = requantize_sums("p", 1e-12, 1 << 26, encoding(0.01, 128))
    assert (stage.low, stage.high) == (128, 128)
    limited = requantize_sums("p", 1e-12, 1 << 26, encoding(0.01, 128), Clamp(0.5, 1.0))
    assert (limited.low, limited.high) == (178, 178)


def test_sums_that_would_be_wrong_are_refused():
    # M is 2^-26, so z_y / M is 2^33; sums reach one code.
    with pytest.raises(HexsimError, match="layer 'p': its output has steps of 1, too coarse for"):
        requantize_sums("p", 2.0**-26, 1 << 26, encoding(1.0, 128))
