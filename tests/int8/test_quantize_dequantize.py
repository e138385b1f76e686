"""Kernels at the edges give what the contract defines."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from hexsim.int8.quantize_dequantize import DequantizeOutput, QuantizeInput
from hexsim.quantization.encodings import Encoding, InputConstants, input_codes
from tests.int8 import naive


def quantize(values, encoding):
    codes = np.full(values.shape, 77, encoding.dtype)
    entrance = QuantizeInput(encoding, codes)
    entrance.take(values)
    entrance.step()
    return codes


def dequantize(codes, encoding):
    way_out = DequantizeOutput(encoding, codes)
    values = way_out.give()
    way_out.step()
    return values


@pytest.mark.parametrize("bits", [8, 16])
@given(
    st.floats(-1000, 0, width=32),
    st.floats(0, 1000, width=32),
    st.lists(st.floats(-2000, 2000, width=32), min_size=1, max_size=40),
)
def test_codes_and_reals(bits: int, low: float, high: float, drawn: list[float]) -> None:
    encoding = Encoding.from_range(low, high, bits)
    ties = (np.arange(4) + 0.5 + encoding.offset) * encoding.delta
    values = np.float32([*drawn, *ties, -3e38, 3e38, 0.0])
    codes = quantize(values, encoding)
    expected = naive.input_codes(values, encoding) if bits == 8 else encoding.quantize(values)
    np.testing.assert_array_equal(codes, expected)
    np.testing.assert_array_equal(input_codes(values, encoding), expected)
    np.testing.assert_array_equal(dequantize(codes, encoding), encoding.dequantize(codes))


@given(st.floats(2.0**-100, 2.0**100), st.integers(0, 255))
def test_reals_of_codes_have_those_codes(delta: float, zero_point: int) -> None:
    low, high = -zero_point * delta, (255 - zero_point) * delta
    encoding = Encoding(8, low, high, delta, -zero_point)
    codes = np.arange(256, dtype=np.uint8)
    np.testing.assert_array_equal(quantize(encoding.dequantize(codes), encoding), codes)


@pytest.mark.parametrize("delta", [1e-250, 1e-45, 1e-30, 1e34, 1e39, 1e300])
def test_steps_beyond_those_of_floats(delta: float) -> None:
    encoding = Encoding(8, -100 * delta, 155 * delta, delta, -100)
    values = np.float32([-3e38, -1e-45, -0.0, 0.0, 1e-45, 1e-30, 1e30, 3e38])
    expected = input_codes(values, encoding)
    np.testing.assert_array_equal(quantize(values, encoding), expected)
    assert np.abs(expected - encoding.quantize(values).astype(int)).max() <= 1


def test_worked_numbers() -> None:
    """Those of docs/reference/arithmetic.md."""
    encoding = Encoding(8, 0.0, 255.0, 1.0, 0)
    assert InputConstants.of(encoding) == InputConstants(-11, 1024, 1 << 19, 8191)
    assert quantize(np.float32([2.5, 254.52, 254.6]), encoding).tolist() == [2, 254, 255]


def test_every_code_has_its_real() -> None:
    encoding = Encoding.from_range(-1.7, 3.1, 16)
    codes = np.arange(1 << 16, dtype=np.uint16).reshape(256, 256)
    np.testing.assert_array_equal(dequantize(codes, encoding), encoding.dequantize(codes))


def test_values_in_any_memory_order() -> None:
    encoding = Encoding.from_range(0, 12)
    values = np.asfortranarray(np.arange(12, dtype=np.float32).reshape(3, 4))
    codes = quantize(values, encoding)
    np.testing.assert_array_equal(codes, input_codes(values, encoding))


def test_pieces_are_the_whole() -> None:
    encoding = Encoding.from_range(-3, 5)
    values = np.linspace(-4, 6, 200, dtype=np.float32)
    codes = np.zeros(200, np.uint8)
    entrance, way_out = QuantizeInput(encoding, codes), DequantizeOutput(encoding, codes)
    entrance.take(values)
    entrance.step.piece(64, 200), entrance.step.piece(0, 64)
    np.testing.assert_array_equal(codes, input_codes(values, encoding))
    reals = way_out.give()
    way_out.step.piece(128, 200), way_out.step.piece(0, 128)
    np.testing.assert_array_equal(reals, encoding.dequantize(codes))
