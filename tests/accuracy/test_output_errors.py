"""Each output has its figure, however large the others are, and the worst one decides.

Streamed distances equal those of everything at once, computed the slow way.
"""

from __future__ import annotations

import math
import warnings
from unittest.mock import patch

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from hexsim.accuracy import output_errors
from hexsim.accuracy.output_errors import Distance, OutputErrors
from hexsim.results.accuracy import (
    NO_SIGNAL_DB,
    SHOWN,
    OutputAccuracy,
    each_output,
    judged_db,
    worst_db,
)
from tests.thorough import examples


def _arrays(seed: int, powers: list[int]) -> list[dict[str, np.ndarray]]:
    """Three inputs, each with an output of each power of ten."""
    rng = np.random.default_rng(seed)
    return [
        {
            f"y{n}": (10.0**power * rng.normal(size=n % 3 + 1)).astype(np.float32)
            for n, power in enumerate(powers)
        }
        for _ in range(3)
    ]


@examples(60)
@given(
    st.integers(0, 2**32),
    st.lists(st.integers(-6, 6), min_size=1, max_size=6),
    st.integers(1, 20),
)
def test_an_output_has_the_figure_that_it_has_alone(
    seed: int, powers: list[int], block: int
) -> None:
    """In whatever runs its inputs are added, joined or measured elsewhere."""
    floats, others = _arrays(seed, powers), _arrays(seed + 1, powers)
    together, taken = OutputErrors(), OutputErrors()
    alone = {name: Distance() for name in floats[0]}
    with patch.object(output_errors, "BLOCK", block):
        for reference, values in zip(floats, others, strict=True):
            together.add(reference, values)
            each = {name: Distance.between(reference[name], values[name]) for name in reference}
            taken.take(each)
            for name, distance in each.items():
                alone[name].take(distance)
    expected = {name: pytest.approx(distance.sqnr_db) for name, distance in alone.items()}
    for errors in (together, taken):
        assert {output.tensor: output.sqnr_db for output in errors.each} == expected
        lowest = min(distance.sqnr_db for distance in alone.values())
        assert worst_db(errors.each) == pytest.approx(lowest)


def test_without_noise_there_is_no_figure_and_without_signal_the_least() -> None:
    zeros, ones = np.zeros(4, np.float32), np.ones(4, np.float32)
    errors = OutputErrors()
    errors.add(
        {"same": ones, "dead": zeros, "zero": zeros}, {"same": ones, "dead": ones, "zero": zeros}
    )
    assert errors.each == (
        OutputAccuracy(tensor="same"),
        OutputAccuracy(tensor="dead", sqnr_db=NO_SIGNAL_DB),
        OutputAccuracy(tensor="zero"),
    )
    assert worst_db(errors.each[:1]) == math.inf
    assert worst_db(errors.each) == NO_SIGNAL_DB
    assert math.isnan(worst_db(()))


def test_words_name_the_worst_first_and_not_all_of_many() -> None:
    assert each_output([OutputAccuracy(tensor="y", sqnr_db=3.0)]) == each_output([]) == ""
    assert each_output([OutputAccuracy(tensor="y"), OutputAccuracy(tensor="z")]) == ""
    two = [
        OutputAccuracy(tensor="boxes", sqnr_db=26.83),
        OutputAccuracy(tensor="same"),
        OutputAccuracy(tensor="scores", sqnr_db=-32.26),
    ]
    assert each_output(two) == (
        "each output, the worst first: 'scores' -32.3 dB, 'boxes' 26.8 dB, 'same' exact"
    )
    many = [OutputAccuracy(tensor=f"y{n}", sqnr_db=50.0 - n) for n in range(SHOWN + 3)]
    assert each_output(many).startswith("each output, the worst first: 'y10' 40.0 dB, ")
    assert each_output(many).endswith(", 'y3' 47.0 dB, and 3 more")


def test_an_output_that_does_not_count_says_why() -> None:
    """Also a single one, whose few decibels would else contradict that its runtime is ranked."""
    line = each_output([OutputAccuracy(tensor="score", sqnr_db=-1.13, negligible=True)])
    assert line.endswith("'score' -1.13 dB (does not count: a probability off by less than 1/255)")


@pytest.mark.parametrize(("error", "negligible"), [(0.002, True), (0.005, False)])
def test_an_error_below_a_step_of_a_probability_is_negligible(
    error: float, negligible: bool
) -> None:
    """However small the probabilities are; of another tensor no error is."""
    floats = {name: np.full(4, 1e-10, np.float32) for name in ("score", "value")}
    errors = OutputErrors(["score"])
    errors.add(floats, {name: array + np.float32(error) for name, array in floats.items()})
    score, value = errors.each
    assert (score.negligible, value.negligible) == (negligible, False)
    assert judged_db(score.sqnr_db, [score]) == (math.inf if negligible else score.sqnr_db)
    assert judged_db(-150.0, [score, value]) == (value.sqnr_db if negligible else -150.0)
    assert judged_db(None, [OutputAccuracy(tensor="y")]) == judged_db(math.nan, ()) == math.inf


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
