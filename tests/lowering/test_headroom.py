"""Weights whose step is too small for bias and zero point: the rule, against exact fractions.

What layers make of it is in tests/int8/test_headroom.py.
"""

import math
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from hexsim.layers import NO_CLAMP
from hexsim.lowering.headroom import fitting_factor, fitting_steps, fitting_weights
from hexsim.lowering.lowered_call import Operand
from hexsim.lowering.requantize import requantize
from hexsim.lowering.source import Weights
from hexsim.quantization.encodings import Encoding


def encoding(delta, zero_point, bits=8):
    top = 2**bits - 1
    return Encoding(bits, -zero_point * delta, (top - zero_point) * delta, delta, -zero_point)


def operand(delta, zero_point, bits=8):
    return Operand("x", (1,), encoding(delta, zero_point, bits))


def codes_of(weights, x, output, bias, distances, fraction_bits=0):
    """The codes of all channels for inputs at `distances` from zero, by the rule of Requantise."""
    steps, one_shift = x.delta * weights.steps, not fraction_bits
    stage = requantize(steps, output, NO_CLAMP, bias, fraction_bits, one_shift=one_shift)
    sums = distances @ (weights.codes.astype(np.int64) - weights.zero_point)
    return stage, stage.apply(sums + stage.preload.astype(np.int64))


def test_the_worked_number_of_the_contract():
    x, output, bias = operand(0.004, 0), encoding(0.025, 40), np.array([0.25])
    given = Weights(np.array([[100], [-50]], np.int8), 0, np.array([2.0**-23]))
    weights = fitting_weights(given, x, output, bias, 0)
    np.testing.assert_array_equal(weights.codes, [[80], [-40]])
    np.testing.assert_allclose(weights.steps * 0.004, 51 * 2.0**-31 * 0.025, rtol=1e-15)
    stage, codes = codes_of(weights, x, output, bias, np.array([200, 255]))
    assert (stage.multiplier[0], stage.shift[0]) == (51, 0)
    assert stage.preload[0] == 2105376125  # 421075225.10 + 1684300900.39
    assert 200 * 80 - 255 * 40 == 5800
    assert (2105376125 + 5800) * 51 + 2**30 >> 31 == 50
    assert codes == 50
    # Without the rule the preload saturates, and the multiplier of 40.96 is 41.
    assert (2**31 - 1) * 41 + 2**30 >> 31 == 41


def test_the_channel_of_an_exporter_equals_its_bias():
    """Step 2^-23 for zeros beside ordinary channels, which stay as they are."""
    x, output = operand(1 / 255, 0), encoding(0.0081686, 102)
    steps = np.array([0.005214, 2.0**-23, 0.004579])
    given = Weights(np.array([[-77, 0, 3], [127, 0, -9]], np.int8), 0, steps)
    bias = np.array([0.1, 0.25, -0.2])
    weights = fitting_weights(given, x, output, bias, 0)
    np.testing.assert_array_equal(weights.codes, given.codes)
    np.testing.assert_array_equal(weights.steps[[0, 2]], steps[[0, 2]])
    _, codes = codes_of(weights, x, output, bias, np.array([255, 255]))
    assert codes[1] == 102 + 31  # 0.25 / 0.0081686 = 30.6


def test_weights_that_fit_are_the_same_object():
    given = Weights(np.full((4, 3), 127, np.int8), 0, np.full(3, 0.01))
    bias = np.array([100.0, -100.0, 0.0])
    assert fitting_weights(given, operand(0.01, 7), encoding(0.02, 128), bias, 0) is given


def test_products_count_for_the_room_of_a_channel():
    """Alone the preload fits; with the largest sum of the channel it does not."""
    x, output = operand(1.0, 0), encoding(1.0, 200)
    step = 201.5 * 2.0**-31  # reach 200: fits up to multipliers of 201
    alone = Weights(np.zeros((70000, 1), np.int8), 0, np.array([step]))
    assert fitting_weights(alone, x, output, None, 0) is alone
    full = Weights(np.full((70000, 1), 100, np.int8), 0, np.array([step]))
    fitted = fitting_weights(full, x, output, None, 0)
    # 255 * 7000000 units are more than half: 2^30 - 2 remain, so ceil(400.0000004) = 401.
    np.testing.assert_allclose(fitted.steps, 401 * 2.0**-31, rtol=1e-15)
    assert set(fitted.codes.ravel()) == {50}


def test_a_scale_below_the_least_multiplier_is_raised_to_it():
    """Zero point 0 and no bias fit any step; a multiplier of one is the least there is."""
    x, output = operand(1.0, 0), encoding(1.0, 0)
    tiny = Weights(np.full((1 << 16, 1), 127, np.int8), 0, np.array([2.0**-60]))
    fitted = fitting_weights(tiny, x, output, None, 0)
    assert not fitted.codes.any()
    assert fitted.steps == 2.0**-31


@pytest.mark.parametrize("bias", [1e30, -1e30, 3e9, -3e9])
def test_a_bias_beyond_all_codes_gives_the_outermost_code(bias):
    x, output, real = operand(0.01, 100), encoding(0.02, 128), np.array([bias])
    given = Weights(np.array([[127], [-127]], np.int8), 0, np.array([0.005]))
    weights = fitting_weights(given, x, output, real, 0)
    for distances in ([155, -100], [-100, 155]):
        _, codes = codes_of(weights, x, output, real, np.array(distances))
        assert codes == (255 if bias > 0 else 0)


def slow(codes, zero_point, step, largest, output, bias, fraction_bits, shift):
    """Least multiplier and codes of one channel, in exact fractions."""
    reach = abs(Fraction(bias)) / Fraction(output.delta) + output.zero_point
    products = largest * sum(abs(int(q) - zero_point) for q in codes)
    bits = 31 - shift + fraction_bits
    room = 2**bits - 2**fraction_bits - min(products, 2 ** (bits - 1)) - 1
    least = min(max(math.ceil(reach * 2**bits / room), 1), 2**31 - 1)
    fitting = least * Fraction(output.delta) / 2**bits
    if Fraction(step) >= fitting:
        return None, [int(q) for q in codes]
    ratio = Fraction(step) / fitting
    half = Fraction(1, 2)
    return least, [math.floor((int(q) - zero_point) * ratio + half) + zero_point for q in codes]


KINDS = st.sampled_from([np.int8, np.uint8, np.int16, np.uint16])


def test_the_worked_number_of_a_shared_shift():
    """A channel of zeros beside one of M = 3: shift 2, so the accumulator has 29 bits."""
    x, output, bias = operand(1.0, 0), encoding(1.0, 100), np.array([0.0, 150.0])
    given = Weights(np.array([[1, 0], [2, 0]], np.int8), 0, np.array([3.0, 2.0**-30]))
    weights = fitting_weights(given, x, output, bias, 0)
    assert weights.steps.tolist() == [3.0, 251 * 2.0**-29]
    stage, codes = codes_of(weights, x, output, bias, np.array([10, 20]))
    assert stage.shift.tolist() == [2, 2]
    assert stage.multiplier.tolist() == [3 << 29, 251]
    assert stage.preload.tolist() == [33, 534731984]
    assert codes.tolist() == [249, 250]


@given(KINDS, st.sampled_from([8, 16]), st.integers(1, 12), st.integers(0, 2**32 - 1))
def test_the_rule_equals_the_slow_one_and_stays_within_its_bound(kind, bits, taps, seed):
    random, top = np.random.default_rng(seed), 2**bits - 1
    x = operand(10.0 ** random.uniform(-4, 0), int(random.integers(top + 1)), bits)
    output = encoding(10.0 ** random.uniform(-4, 0), int(random.integers(top + 1)), bits)
    limits = np.iinfo(kind)
    channels = 6
    codes = random.integers(limits.min, limits.max, (taps, channels), kind, endpoint=True)
    zero_point = int(random.integers(limits.max)) if limits.min == 0 else 0
    codes[:, 0] = zero_point
    steps = 10.0 ** random.uniform(-16, -2, channels)
    bias = output.delta * top * random.uniform(-2, 2, channels)
    given = Weights(codes, zero_point, steps)
    fraction_bits = bits - 8 + given.bits - 8
    weights = fitting_weights(given, x, output, bias, fraction_bits)
    largest = max(x.zero_point, top - x.zero_point)
    distances = random.integers(0, top, taps, endpoint=True) - x.zero_point
    stage, produced = codes_of(weights, x, output, bias, distances, fraction_bits)
    largest_scale = x.delta * steps.max() / output.delta
    shift = 0 if fraction_bits else max(math.frexp(largest_scale)[1], 0)
    for c in range(channels):
        step = x.delta * steps[c]
        least, expected = slow(
            codes[:, c], zero_point, step, largest, output, bias[c], fraction_bits, shift
        )
        assert weights.codes[:, c].tolist() == expected
        if least is None:
            assert weights.steps[c] == steps[c]
            continue
        assert (stage.multiplier[c], stage.shift[c]) == (least, shift)
        products = distances @ (codes[:, c].astype(np.int64) - zero_point)
        exact = (products * step + bias[c]) / output.delta + output.zero_point
        exact = min(max(exact, 0), top)
        unit = least * 2.0 ** (shift - 31 - fraction_bits)
        # The rest of the requantise stage of 16 bits is exact to 2^-15 of a code.
        assert abs(produced[c] - exact) <= 0.5 + 2.0**-15 + (1 + taps * largest) / 2 * unit
        if c == 0:
            assert abs(produced[c] - exact) <= 0.5 + 2.0**-15 + unit / 2


def test_of_constant_factors_the_first_is_coded_anew():
    tiny = encoding(1e-12, 100)
    constant = Operand("k", (3,), tiny, np.array([100, 0, 255], np.uint8))
    output = encoding(0.02, 128)
    x, same = fitting_factor((operand(0.01, 7), constant), 1, 1.0, output, 0)
    assert x.codes is None
    np.testing.assert_array_equal(same.codes, [100, 100, 100])
    # 128 codes reach; S is 248 * 155, so least is ceil(128.002).
    np.testing.assert_allclose(x.delta * same.delta, 129 * 2.0**-31 * 0.02, rtol=1e-12)
    assert same.encoding.fault() is None
    computed = (operand(0.01, 7), operand(1e-12, 100))
    assert fitting_factor(computed, 1, 1.0, output, 0) is computed
    usual = (operand(0.01, 7), Operand("k", (1,), encoding(0.01, 0), np.array([3], np.uint8)))
    assert fitting_factor(usual, 1, 1.0, output, 0) is usual


def test_one_bias_for_each_step():
    steps = np.array([1e-12, 1e-12, 1.0])
    fitted = fitting_steps(steps, 0, encoding(1.0, 0), np.array([10.0, -20.0, 30.0]), 0)
    np.testing.assert_array_equal(fitted, [11 * 2.0**-31, 21 * 2.0**-31, 1.0])
