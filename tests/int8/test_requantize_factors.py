"""Factors of floats: those that are given are exact for every sum, and most scales have one."""

import math
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from hexsim.int8.machine_code.features import has_fused_floats
from hexsim.int8.requantize import factor_bits, float_factors, one_stage
from hexsim.lowering.requantize import Requantize
from tests.int8 import naive
from tests.int8.test_requantize_run import codes_of_run
from tests.thorough import examples

EXTREMES = [-(2**31), 2**31 - 1, -1, 0, 1, 2**24 - 1, 2**24, 2**24 + 1, 2**30 + 1]


def _stage(multipliers, low=0, high=255, shift=0, fraction_bits=0):
    each = np.array(multipliers, np.int32)
    none = np.zeros(each.size, np.int32)
    return Requantize(none, each, none + shift, low, high, fraction_bits)


def _rounded(total, factor, low, high):
    """What the instructions do, in exact numbers; the second rounding is to the even neighbour."""
    whole = round(Fraction(float(np.float32(total))) * Fraction(float(factor)))
    return min(max(whole, low), high)


def _near_thresholds(multiplier):
    codes = np.arange(-1, 258, dtype=np.int64)
    least = -(-(codes * 2**31 - 2**30) // multiplier)
    sums = np.concatenate([least - 2, least - 1, least, least + 1, EXTREMES])
    return sums.clip(-(2**31), 2**31 - 1).astype(np.int32)


MULTIPLIERS = st.integers(0, 15).flatmap(lambda s: st.integers(2 ** (30 - s), 2 ** (31 - s) - 1))
ROUND = st.tuples(st.integers(1, 255), st.integers(0, 22)).map(lambda pair: pair[0] << pair[1])


@given(MULTIPLIERS | ROUND, st.integers(0, 255), st.integers(0, 255))
@examples(150)
def test_a_factor_gives_the_codes_of_the_multiplier(multiplier, a, b):
    low, high = sorted((a, b))
    factors = float_factors(_stage([multiplier], low, high))
    if factors is None:
        return
    sums = _near_thresholds(multiplier)
    codes = [_rounded(int(total), factors[0], low, high) for total in sums]
    none = np.zeros(sums.size, np.int32)
    expected = naive.requantize(sums, none + multiplier, none, low, high)
    np.testing.assert_array_equal(codes, expected)


@pytest.mark.skipif(not has_fused_floats(), reason="this CPU does not fuse multiply and add")
@given(MULTIPLIERS | ROUND, st.tuples(st.integers(0, 255), st.integers(0, 255)))
@examples(100)
def test_the_instructions_do_the_same(multiplier, limits):
    low, high = sorted(limits)
    stage = one_stage(_stage([multiplier], low, high))
    sums = _near_thresholds(multiplier)
    none = np.zeros(sums.size, np.int32)
    expected = naive.requantize(sums, none + multiplier, none, low, high)
    np.testing.assert_array_equal(codes_of_run(sums, stage), expected)


@pytest.mark.skipif(not has_fused_floats(), reason="this CPU does not fuse multiply and add")
@pytest.mark.parametrize("multiplier", [2**21 + 12345, 2**23 + 1, 2**25 + 64, 2**17])
def test_every_sum_that_has_a_code(multiplier):
    stage = one_stage(_stage([multiplier]))
    assert stage.factor
    sums = np.arange(-1000, 256 * 2**31 // multiplier + 1000, dtype=np.int64)
    expected = np.clip((sums * multiplier + 2**30) >> 31, 0, 255)
    np.testing.assert_array_equal(codes_of_run(sums.astype(np.int32), stage), expected)


def test_scales_below_a_128th_are_floats_themselves():
    multipliers = np.random.default_rng(1).integers(2**16, 2**23, 1000) * 2 + 1
    factors = float_factors(_stage(multipliers))
    np.testing.assert_array_equal(factors, multipliers * 2.0**-31)


def test_a_power_of_two_has_ties_and_takes_the_float_above():
    (factor,) = float_factors(_stage([2**17]))
    assert factor == np.nextafter(np.float32(2.0**-14), np.float32(1))


NONE_IS_EXACT = 16876031
"""A multiplier of scale 2^-7 whose nearest floats all differ in a code above 200."""


@pytest.mark.parametrize("scale", [2.0**-7, 2.0**-6, 2.0**-4])
def test_larger_scales_nearly_always_have_one_which_may_not_be_the_nearest(scale):
    rng = np.random.default_rng(2)
    multipliers = (scale * (1 + rng.random(500)) * 2**31).astype(np.int64)
    factors = [float_factors(_stage([multiplier])) for multiplier in multipliers]
    assert sum(factor is not None for factor in factors) > 0.99 * len(factors)
    nearest = (multipliers * 2.0**-31).astype(np.float32)
    both = zip(factors, nearest, strict=True)
    others = sum(factor is not None and factor[0] != near for factor, near in both)
    assert 0 < others < 0.1 * len(factors)


@pytest.mark.parametrize(
    "stage",
    [
        _stage([2**22], shift=1),
        _stage([2**22], fraction_bits=8),
        _stage([2**22, 2**14]),  # a code of the second takes a sum that is no float
    ],
    ids=["shift", "fraction bits", "sums of more than 24 bits"],
)
def test_others_have_none(stage):
    assert float_factors(stage) is None
    assert factor_bits(stage) is None


def test_one_entry_without_a_factor_leaves_all_without():
    assert float_factors(_stage([2**22 + 1])) is not None
    assert float_factors(_stage([2**22 + 1, NONE_IS_EXACT])) is None


def test_only_codes_between_the_limits_count():
    assert float_factors(_stage([NONE_IS_EXACT])) is None
    assert float_factors(_stage([NONE_IS_EXACT], 0, 200)) is not None
    assert float_factors(_stage([NONE_IS_EXACT], 9, 9)) is not None


def test_codes_tried_in_parts_give_the_same_factors(monkeypatch):
    high = 65535
    rng = np.random.default_rng(4)
    multipliers = [NONE_IS_EXACT, *rng.integers(2**23, 2**26, 40), *(2 ** np.arange(23, 27))]
    in_parts = [float_factors(_stage([multiplier], 0, high)) for multiplier in multipliers]
    monkeypatch.setattr("hexsim.int8.requantize._CODES_AT_FIRST", high + 1)
    at_once = [float_factors(_stage([multiplier], 0, high)) for multiplier in multipliers]
    assert in_parts == at_once
    assert {factors is None for factors in at_once} == {False, True}


def test_entries_keep_their_order():
    multipliers = [2**22 + 1, 2**20 + 1, 2**22 + 1, 2**21 + 1]
    factors = float_factors(_stage(multipliers))
    assert [math.ldexp(float(factor), 31) for factor in factors] == multipliers
