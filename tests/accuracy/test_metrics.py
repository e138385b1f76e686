"""Metrics on arrays whose answers are known."""

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from hexsim.accuracy.metrics import cosine, margin, max_error, sqnr_db, winner


def test_noise_of_a_tenth_is_twenty_decibels() -> None:
    ref = np.array([1.0, -1.0, 1.0, -1.0])
    assert sqnr_db(ref, ref * 1.1) == pytest.approx(20.0)
    assert sqnr_db(ref, ref) == math.inf
    assert sqnr_db(ref * 0, ref) == -math.inf


@given(st.floats(0.1, 10))
def test_cosine_ignores_scale(scale: float) -> None:
    ref = np.array([1.0, 2.0, -3.0])
    assert cosine(ref, ref * scale) == pytest.approx(1.0)
    assert cosine(ref, -ref) == pytest.approx(-1.0)
    assert cosine(ref, ref * 0) == 0.0
    assert cosine(ref * 0, ref * 0) == 1.0


def test_max_error_and_margin() -> None:
    assert max_error(np.array([1, 2], np.float32), np.array([1, 5], np.float32)) == 3.0
    scores = np.array([[0.1, 0.7, 0.2]], np.float32)
    assert margin(scores, 1) == pytest.approx(0.5)
    assert margin(scores, 0) == pytest.approx(-0.6)


def test_the_first_of_equal_scores_wins_and_of_none_nobody() -> None:
    assert winner(np.array([[1, 3, 3]])) == 1
    assert winner(np.array(2.0)) == 0
    assert winner(np.zeros((1, 0))) == -1
