"""Worked examples of the SNPE quantisation guide, and the properties every encoding has."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from hexsim.quantization.encodings import AxisEncoding, Encoding

reals = st.floats(-1e4, 1e4, allow_nan=False, width=32)


@pytest.mark.parametrize(
    ("low", "high", "emin", "emax", "delta", "offset"),
    [
        (-1.8, 0.5, -1.803922, 0.496078, 0.009020, -200),
        (-5.1, 5.1, -5.12, 5.08, 0.04, -128),
        (5.0, 10.0, 0.0, 10.0, 0.0392157, 0),
        (-20.0, -6.0, -20.0, 0.0, 0.0784314, -255),
        (0.0, 0.0, 0.0, 0.01, 3.92157e-5, 0),
    ],
)
def test_worked_examples_of_the_guide(
    low: float, high: float, emin: float, emax: float, delta: float, offset: int
) -> None:
    encoding = Encoding.from_range(low, high)
    assert encoding.offset == offset
    np.testing.assert_allclose((encoding.min, encoding.max), (emin, emax), atol=1e-6)
    np.testing.assert_allclose(encoding.delta, delta, rtol=1e-4)


def test_official_example_codes_and_values() -> None:
    encoding = Encoding.from_range(-1.8, 0.5)
    codes = encoding.quantize(np.array([-1.8, -1.0, 0.0, 0.5], np.float32))
    assert codes.tolist() == [0, 89, 200, 255]
    np.testing.assert_allclose(
        encoding.dequantize(codes), [-1.8039, -1.0011765, 0.0, 0.4961], atol=1e-4
    )


def test_values_past_the_shifted_end_saturate() -> None:
    assert Encoding.from_range(-5.1, 5.1).quantize(np.array([5.1, 99.0])).tolist() == [255, 255]


def test_tiny_range_depends_on_the_release() -> None:
    encoding = Encoding.from_range(-0.001, 0.001, minimum_range=1e-4)
    assert encoding.offset == -128
    np.testing.assert_allclose((encoding.min, encoding.max), (-0.00100392, 0.00099608), atol=1e-8)


def test_symmetric_codes_are_signed_with_zero_point_zero() -> None:
    encoding = Encoding.symmetric_of(2.54)
    assert (encoding.offset, encoding.zero_point, encoding.dtype) == (-128, 0, np.int8)
    np.testing.assert_allclose((encoding.delta, encoding.min, encoding.max), (0.02, -2.56, 2.54))
    assert encoding.quantize(np.array([-9.0, -2.54, 0.0, 2.54])).tolist() == [-128, -127, 0, 127]


@given(low=reals, high=reals, bitwidth=st.sampled_from([4, 8, 16]))
def test_zero_is_exact_and_inner_error_below_half_a_step(
    low: float, high: float, bitwidth: int
) -> None:
    encoding = Encoding.from_range(min(low, high), max(low, high), bitwidth)
    assert encoding.dequantize(encoding.quantize(np.zeros(1))).item() == 0.0
    inside = np.linspace(encoding.min, encoding.max, 101)
    error = np.abs(
        encoding.quantize(inside).astype(float) - encoding.zero_point - inside / encoding.delta
    )
    assert error.max() <= 0.5 + 1e-6


@given(st.lists(st.floats(0.01, 100.0), min_size=1, max_size=5))
def test_axis_encoding_equals_its_channels(limits: list[float]) -> None:
    axis = AxisEncoding(tuple(Encoding.symmetric_of(limit) for limit in limits))
    x = np.linspace(-120, 120, 7 * len(limits)).reshape(7, len(limits))
    codes = axis.quantize(x)
    for channel, encoding in enumerate(axis.channels):
        np.testing.assert_array_equal(codes[:, channel], encoding.quantize(x[:, channel]))
    np.testing.assert_allclose(
        axis.dequantize(codes)[:, 0], axis.channels[0].dequantize(codes[:, 0])
    )


def test_axis_encoding_refuses_asymmetric_channels() -> None:
    with pytest.raises(ValueError, match="symmetric"):
        AxisEncoding((Encoding.from_range(0, 1),))


def test_the_codes_of_a_scalar_are_an_array() -> None:
    """What compiled code reads has to lie somewhere."""
    encoding = Encoding.from_range(0, 255)
    codes = encoding.quantize(np.float32(3.2))
    assert isinstance(codes, np.ndarray)
    assert (codes.shape, codes.dtype, int(codes)) == ((), np.uint8, 3)
    assert isinstance(encoding.dequantize(codes), np.ndarray)
