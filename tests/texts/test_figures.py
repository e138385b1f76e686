"""Measured and simulated values as text."""

import math

import pytest

from hexsim.texts.figures import decibels, figure, given, percent, size, span


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (0.09236, "0.0924"),
        (7.4, "7.40"),
        (9.996, "10.0"),
        (99.96, "100"),
        (1053.78, "1054"),
        (825e6, "825000000"),
        (-3.456, "-3.46"),
        (0.00001, "0.0000100"),
        (2e-7, "2.00e-07"),
        (0.0, "0"),
        (math.inf, "inf"),
    ],
)
def test_three_digits_and_all_before_the_point(value: float, text: str) -> None:
    assert figure(value) == text


def test_changes_have_a_sign() -> None:
    assert [percent(change, "+") for change in (0.5, -0.0312, 0.0)] == ["+50.0%", "-3.12%", "+0%"]


def test_intervals_and_errors() -> None:
    assert span(773.8, 1158.74) == "774 .. 1159"
    assert [decibels(db) for db in (51.42, math.inf, None)] == ["51.4", "exact", "exact"]
    assert [decibels(db) for db in (-math.inf, math.nan)] == ["-inf", ""]


def test_sizes_have_the_unit_that_suits() -> None:
    assert [size(count) for count in (96, 2**18, 12.34 * 2**20)] == ["96 B", "256 KiB", "12.3 MiB"]


def test_what_others_state_gets_no_digits() -> None:
    assert [given(ms) for ms in (11, 0.5, 22.46, 1194)] == ["11", "0.5", "22.5", "1194"]
