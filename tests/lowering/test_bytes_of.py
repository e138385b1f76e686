"""Bytes of codes, zero points and weights put together again are what they came from."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from hexsim.lowering.bytes_of import byte_codes, byte_operands, byte_weights
from tests.int8.drawn import BITS, CODES, arrays, operands, weights
from tests.thorough import examples


@given(st.data())
@examples(60)
def test_operands(data):
    bits = data.draw(BITS)
    x = data.draw(operands((3, 4), bits=bits))
    codes = data.draw(arrays((3, 4), CODES[bits]))
    parts = byte_operands(x)
    assert len(parts) == bits // 8
    together = np.zeros((3, 4))
    for byte, part in parts:
        assert part.bits == 8
        as_bytes = byte_codes(codes, byte)
        assert as_bytes.flags.c_contiguous
        assert as_bytes.dtype == np.uint8
        together += part.delta * (as_bytes.astype(float) - part.zero_point)
    np.testing.assert_allclose(together, x.delta * (codes.astype(float) - x.zero_point), atol=1e-6)


@given(weights((3, 5)))
@examples(60)
def test_weights(whole):
    together = np.zeros((3, 5))
    for byte, part in byte_weights(whole):
        assert (part.bits, whole.bits > 8 * byte) == (8, True)
        together += part.steps * (part.codes.astype(float) - part.zero_point)
    np.testing.assert_array_equal(together, whole.codes.astype(float) - whole.zero_point)


@pytest.mark.parametrize("dtype", [np.uint16, np.int16])
def test_worked_example(dtype):
    codes = np.array([1, 256, 0x7FFF, -2 if dtype == np.int16 else 0xFFFE], dtype)
    np.testing.assert_array_equal(byte_codes(codes, 0), [1, 0, 255, 254])
    high = [0, 1, 127, -1 if dtype == np.int16 else 255]
    np.testing.assert_array_equal(byte_codes(codes, 1), high)
