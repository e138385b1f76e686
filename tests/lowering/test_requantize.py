import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from hexsim.layers import NO_CLAMP, RELU, Clamp
from hexsim.lowering.lowered_call import Operand
from hexsim.lowering.requantize import clamp_codes, requantize, rescale_table
from hexsim.quantization.encodings import Encoding


def encoding(delta, zero_point):
    return Encoding(8, -zero_point * delta, (255 - zero_point) * delta, delta, -zero_point)


def constants(scale, zero_point=0, bias=None):
    """Constants for an accumulator step of `scale` and an output step of 1."""
    stage = requantize(scale, encoding(1.0, zero_point), NO_CLAMP, bias)
    return int(stage.multiplier[0]), int(stage.shift[0]), int(stage.preload[0])


@pytest.mark.parametrize(
    ("scale", "multiplier", "shift"),
    [
        (0.5, 2**30, 0),
        (0.0005, 1073742, 0),  # 0.0005 * 2^31 = 1073741.824
        (1.0, 2**30, 1),  # not below one, so one shift and half the multiplier
        (1.5, 3 * 2**29, 1),
        (6.0, 3 * 2**29, 3),
        (1 - 2**-40, 2**31 - 1, 0),  # rounds to 2^31, which no int32 holds
        (2.0**-40, 1, 0),  # never zero
    ],
)
def test_multiplier_and_shift(scale, multiplier, shift):
    assert constants(scale)[:2] == (multiplier, shift)


@given(st.floats(1e-8, 1e6))
def test_shift_is_the_least_that_brings_the_scale_below_one(scale):
    multiplier, shift, _ = constants(scale)
    assert scale * 2.0**-shift < 1
    assert shift == 0 or scale * 2.0 ** (1 - shift) >= 1
    assert 1 <= multiplier < 2**31
    assert math.isclose(multiplier * 2.0 ** (shift - 31), scale, rel_tol=1e-1, abs_tol=2.0**-31)


def test_preload_holds_bias_and_zero_point_rounded_together():
    assert constants(0.003, 10)[2] == 3333
    assert constants(0.003, 10, np.array([1.0]))[2] == 3667  # 3666.67, not 3333 + 333
    assert constants(0.003, 10, np.array([-1.0]))[2] == 3000
    assert constants(0.4, 0, np.array([-1.0]))[2] == -2  # -2.5: ties go up


def test_channels_can_share_the_shift_of_the_largest_scale():
    stage = requantize(np.array([3.0, 0.5]), encoding(1.0, 10), one_shift=True)
    assert stage.shift.tolist() == [2, 2]
    assert stage.multiplier.tolist() == [3 << 29, 1 << 28]
    own = requantize(np.array([3.0, 0.5]), encoding(1.0, 10))
    assert (own.shift.tolist(), own.multiplier.tolist()) == ([2, 0], [3 << 29, 1 << 30])


@given(st.floats(1e-6, 1e-3), st.integers(0, 255))
def test_real_zero_keeps_its_code(scale, zero_point):
    stage = requantize(scale, encoding(1.0, zero_point))
    assert stage.apply(stage.preload.astype(np.int64)) == zero_point


def test_preload_saturates():
    assert constants(1e-9, 255)[2] == 2**31 - 1
    assert constants(1e-9, 0, np.array([-100.0]))[2] == -(2**31)


def test_one_entry_per_channel():
    stage = requantize(np.array([0.5, 0.25]), encoding(1.0, 4), NO_CLAMP, np.array([0.0, 1.0]))
    np.testing.assert_array_equal(stage.preload, [8, 16 + 4])
    np.testing.assert_array_equal(stage.multiplier, [2**30, 2**29])
    np.testing.assert_array_equal(
        stage.apply(stage.preload + np.array([3, 3])), [6, 6]
    )  # 5.5, 5.75


def test_clamp_codes():
    code = encoding(0.1, 50)
    assert clamp_codes(NO_CLAMP, code) == (0, 255)
    assert clamp_codes(RELU, code) == (50, 255)
    assert clamp_codes(Clamp(0.0, 6.0), code) == (50, 110)
    assert clamp_codes(Clamp(-1000.0, 1000.0), code) == (0, 255)


def test_rescale_is_none_between_equal_encodings():
    x = Operand("x", (1,), encoding(0.1, 7))
    assert rescale_table(x, encoding(0.1, 7)) is None
    limited = rescale_table(x, encoding(0.1, 7), RELU)
    np.testing.assert_array_equal(limited, np.maximum(np.arange(256), 7))


@given(st.floats(0.001, 10), st.integers(0, 255), st.floats(0.001, 10), st.integers(0, 255))
def test_rescale_is_monotone_and_within_a_step(delta, zero, out_delta, out_zero):
    x, y = encoding(delta, zero), encoding(out_delta, out_zero)
    table = rescale_table(Operand("x", (1,), x), y)
    if table is None:
        return
    table = table.astype(np.int64)
    assert (np.diff(table) >= 0).all()
    exact = np.clip((np.arange(256) - zero) * delta / out_delta + out_zero, 0, 255)
    # Half a code, half an accumulator step for the preload, half a unit of the 14-bit factor.
    limit = 0.501 + 2.0**-15 * max(delta / out_delta, 1) + 255 * 2.0**-15
    np.testing.assert_array_less(np.abs(table - exact), limit)
