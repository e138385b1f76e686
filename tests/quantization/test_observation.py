"""Observations hold the extremes, wherever in an array they are.

The histogram is the same in whatever portions values arrive, and never grows.
"""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from hexsim.quantization.observation import _CHUNK, BINS, Histogram, Observation


@pytest.mark.parametrize("size", [1, _CHUNK - 1, _CHUNK, _CHUNK + 1, 3 * _CHUNK + 7])
@pytest.mark.parametrize("place", [0, -1])
def test_extremes_at_the_ends(size: int, place: int) -> None:
    values = np.zeros(size, np.float32)
    values[place] = -2
    assert (Observation.of(values).low, Observation.of(-values).high) == (-2, 2)


def test_every_axis_order_and_type() -> None:
    values = np.arange(-6, 6).reshape(3, 4)
    seen = Observation.of(np.asfortranarray(values))
    assert (seen.low, seen.high) == (-6, 5)


def test_one_nan_is_seen() -> None:
    values = np.zeros(2 * _CHUNK, np.float32)
    values[_CHUNK + 3] = np.nan
    assert np.isnan([Observation.of(values).low, Observation.of(values).high]).all()


def test_of_nothing_zero_is_seen() -> None:
    seen = Observation.of(np.zeros((1, 0, 4), np.float32), with_histogram=True)
    assert (seen.low, seen.high) == (0, 0)
    assert seen.histogram is not None
    assert not seen.histogram.counts.any()


values = st.lists(st.floats(-1e6, 1e6, width=32, allow_subnormal=False), min_size=1, max_size=40)


def _same(first: Histogram, two: Histogram) -> None:
    assert (first.exponent, first.first) == (two.exponent, two.first)
    np.testing.assert_array_equal(first.counts, two.counts)


@given(st.lists(values, min_size=1, max_size=5), st.randoms(use_true_random=False))
def test_portions_and_their_order_do_not_matter(portions: list[list[float]], random) -> None:
    whole = Histogram.of(np.array([x for portion in portions for x in portion], np.float32))
    random.shuffle(portions)
    first, *rest = (Histogram.of(np.array(portion, np.float32)) for portion in portions)
    for other in rest:
        first = first.joined(other)
    _same(first, whole)


@given(values)
def test_every_value_lies_in_its_bin_and_at_least_512_bins_cover_the_range(
    seen: list[float],
) -> None:
    array = np.array(seen, np.float32)
    histogram = Histogram.of(array)
    centres, counts = histogram.occupied()
    half = 2.0**histogram.exponent / 2
    for x in array:
        assert np.any((centres - half <= x) & (x < centres + half))
    assert counts.sum() == array.size
    assert counts.min() > 0
    assert len(histogram.counts) <= BINS
    if np.abs(array).max() > 1e-12:
        assert len(histogram.counts) >= 512


def test_bins_are_halved_in_number_by_adding_neighbours() -> None:
    narrow = Histogram.of(np.arange(1024, dtype=np.float32))
    assert (narrow.exponent, narrow.first, len(narrow.counts)) == (0, 0, 1024)
    joined = narrow.joined(Histogram.of(np.array([-1.0], np.float32)))
    assert (joined.exponent, joined.first) == (1, -1)
    assert joined.counts.tolist() == [1] + [2] * 512


def test_all_zeros_have_a_bin() -> None:
    histogram = Histogram.of(np.zeros((2, 3), np.float32))
    centres, counts = histogram.occupied()
    assert counts.tolist() == [6]
    assert centres == pytest.approx([0.0], abs=1e-18)


@given(values, st.integers(2, 64))
def test_coarser_bins_hold_what_theirs_held(seen: list[float], most: int) -> None:
    array = np.array(seen, np.float32)
    coarse = Histogram.of(array).coarser(most)
    assert len(coarse.counts) <= most
    ends = [coarse.low + coarse.width * number for number in range(len(coarse.counts) + 1)]
    counts, _ = np.histogram(array, [*ends[:-1], np.inf])
    np.testing.assert_array_equal(coarse.counts, counts)
