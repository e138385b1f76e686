"""Each output has its figure, however large the others are, and the worst one decides."""

from __future__ import annotations

import math
from unittest.mock import patch

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from hexsim.accuracy import output_errors
from hexsim.accuracy.distance import Distance
from hexsim.accuracy.output_errors import (
    NO_SIGNAL_DB,
    SHOWN,
    OutputError,
    OutputErrors,
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
        OutputError("same"),
        OutputError("dead", NO_SIGNAL_DB),
        OutputError("zero"),
    )
    assert worst_db(errors.each[:1]) == math.inf
    assert worst_db(errors.each) == NO_SIGNAL_DB
    assert math.isnan(worst_db(()))


def test_words_name_the_worst_first_and_not_all_of_many() -> None:
    assert each_output([OutputError("y", 3.0)]) == each_output([]) == ""
    assert each_output([OutputError("y"), OutputError("z")]) == ""
    two = [OutputError("boxes", 26.83), OutputError("same"), OutputError("scores", -32.26)]
    assert each_output(two) == (
        "each output, the worst first: 'scores' -32.3 dB, 'boxes' 26.8 dB, 'same' exact"
    )
    many = [OutputError(f"y{n}", 50.0 - n) for n in range(SHOWN + 3)]
    assert each_output(many).startswith("each output, the worst first: 'y10' 40.0 dB, ")
    assert each_output(many).endswith(", 'y3' 47.0 dB, and 3 more")


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
    assert judged_db(None, [OutputError("y")]) == judged_db(math.nan, ()) == math.inf
