"""Streamed distances equal those of everything at once, computed the slow way."""

import math
import warnings

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from hexsim.accuracy.distance import Distance

_numbers = st.lists(
    st.tuples(st.floats(-1e3, 1e3, width=32), st.floats(-1e3, 1e3, width=32)), max_size=12
)


def _slow(pairs: list[tuple[float, float]]) -> tuple[float, float, float, float]:
    """Signal, noise, cosine, largest error, number by number."""
    signal = math.fsum(a * a for a, _ in pairs)
    other = math.fsum(b * b for _, b in pairs)
    noise = math.fsum((a - b) ** 2 for a, b in pairs)
    product = math.fsum(a * b for a, b in pairs)
    lengths = math.sqrt(signal) * math.sqrt(other)
    cosine = product / lengths if lengths else float(signal == other)
    return signal, noise, cosine, max((abs(a - b) for a, b in pairs), default=0.0)


@given(st.lists(_numbers, max_size=4))
def test_a_stream_is_the_sum_of_its_parts(parts: list[list[tuple[float, float]]]) -> None:
    stream = Distance()
    for part in parts:
        pairs = np.array(part, np.float32).reshape(-1, 2)
        stream.add(pairs[:, 0], pairs[:, 1])
    signal, noise, cosine, largest = _slow([pair for part in parts for pair in part])
    assert stream.cosine == pytest.approx(cosine, abs=1e-9)
    assert stream.max_error == largest
    if noise == 0.0:
        assert (stream.noise_ratio, stream.sqnr_db) == (0.0, math.inf)
    elif signal == 0.0:
        assert (stream.noise_ratio, stream.sqnr_db) == (math.inf, -math.inf)
    else:
        assert stream.noise_ratio == pytest.approx(noise / signal, rel=1e-9)
        assert stream.sqnr_db == pytest.approx(10 * math.log10(signal / noise), abs=1e-6)


def test_infinities_that_are_the_same_are_no_noise() -> None:
    """Masks of two networks in floats: nothing is told apart, and nobody is warned."""
    distance = Distance()
    with warnings.catch_warnings():
        warnings.simplefilter("error", RuntimeWarning)
        distance.add(np.array([1, -np.inf, 3, np.inf]), np.array([1.5, -np.inf, 3, np.inf]))
    assert (distance.signal, distance.noise, distance.max_error) == (10.0, 0.25, 0.5)
    assert distance.product == 10.5


def test_noise_of_a_tenth_is_twenty_decibels() -> None:
    ref = np.array([1.0, -1.0, 1.0, -1.0])
    assert Distance.between(ref, ref * 1.1).sqnr_db == pytest.approx(20.0)
    assert Distance.between(ref, ref).sqnr_db == math.inf
    assert Distance.between(ref * 0, ref).sqnr_db == -math.inf


@given(st.floats(0.1, 10))
def test_cosine_ignores_scale(scale: float) -> None:
    ref = np.array([1.0, 2.0, -3.0])
    assert Distance.between(ref, ref * scale).cosine == pytest.approx(1.0)
    assert Distance.between(ref, -ref).cosine == pytest.approx(-1.0)
    assert Distance.between(ref, ref * 0).cosine == 0.0
    assert Distance.between(ref * 0, ref * 0).cosine == 1.0


def test_the_largest_error() -> None:
    distance = Distance.between(np.array([1, 2], np.float32), np.array([1, 5], np.float32))
    assert distance.max_error == 3.0
