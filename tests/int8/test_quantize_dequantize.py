"""Kernels at the edges give what the encodings define."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from hexsim.int8.quantize_dequantize import DequantizeOutput, QuantizeInput
from hexsim.quantization.encodings import Encoding


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
    np.testing.assert_array_equal(codes, encoding.quantize(values))
    np.testing.assert_array_equal(dequantize(codes, encoding), encoding.dequantize(codes))


def test_every_code_has_its_real() -> None:
    encoding = Encoding.from_range(-1.7, 3.1, 16)
    codes = np.arange(1 << 16, dtype=np.uint16).reshape(256, 256)
    np.testing.assert_array_equal(dequantize(codes, encoding), encoding.dequantize(codes))


def test_values_in_any_memory_order() -> None:
    encoding = Encoding.from_range(0, 12)
    values = np.asfortranarray(np.arange(12, dtype=np.float32).reshape(3, 4))
    codes = quantize(values, encoding)
    np.testing.assert_array_equal(codes, encoding.quantize(values))


def test_pieces_are_the_whole() -> None:
    encoding = Encoding.from_range(-3, 5)
    values = np.linspace(-4, 6, 200, dtype=np.float32)
    codes = np.zeros(200, np.uint8)
    entrance, way_out = QuantizeInput(encoding, codes), DequantizeOutput(encoding, codes)
    entrance.take(values)
    entrance.step.piece(64, 200), entrance.step.piece(0, 64)
    np.testing.assert_array_equal(codes, encoding.quantize(values))
    reals = way_out.give()
    way_out.step.piece(128, 200), way_out.step.piece(0, 128)
    np.testing.assert_array_equal(reals, encoding.dequantize(codes))
