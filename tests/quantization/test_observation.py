"""Observations hold the extremes, wherever in an array they are."""

import numpy as np
import pytest

from hexsim.quantization.observation import _CHUNK, Observation


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
