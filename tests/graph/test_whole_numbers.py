"""Which numbers a type of integers has: the ends of each type, and what lies just outside."""

from __future__ import annotations

import numpy as np
import pytest

from hexsim.graph.whole_numbers import WHOLE_TYPES, fault, first_wrong, limits

ENDS = {
    "bool": (0, 1),
    "uint8": (0, 255),
    "int8": (-128, 127),
    "uint16": (0, 65535),
    "int16": (-32768, 32767),
    "uint32": (0, 4294967295),
    "int32": (-2147483648, 2147483647),
    "uint64": (0, 18446744073709551615),
    "int64": (-9223372036854775808, 9223372036854775807),
}


def test_each_type_has_its_ends() -> None:
    assert {name: limits(name) for name in WHOLE_TYPES} == ENDS


@pytest.mark.parametrize("dtype", ENDS)
def test_doubles_at_the_ends_of_a_type(dtype: str) -> None:
    """The ends plus one are powers of two, which doubles have; 2**63 - 1 they have not."""
    low, high = ENDS[dtype]
    largest = np.nextafter(np.float64(high + 1), 0) if high > 2**53 else np.float64(high)
    assert first_wrong(np.array([low, 0, 1, largest]), dtype) is None
    for wrong in (float(high + 1), low - 1.0 if low > -(2**53) else low * 2.0, 0.5, -0.5):
        assert first_wrong(np.array([0.0, 1.0, wrong]), dtype) == 2, wrong
    for wrong in (np.nan, np.inf, -np.inf):
        assert first_wrong(np.array([wrong, 0.5]), dtype) == 0, wrong


@pytest.mark.parametrize("given", ENDS)
@pytest.mark.parametrize("dtype", ENDS)
def test_integers_of_one_type_for_another(dtype: str, given: str) -> None:
    """The answer is that of Python's integers, which have no end."""
    (low, high), ends = ENDS[dtype], ENDS[given]
    for number in (*ends, 0, 1):
        right = low <= number <= high
        assert (first_wrong(np.array([number], given), dtype) is None) == right, number


@pytest.mark.parametrize("dtype", ["float32", "float16", "float64"])
def test_floats_take_all(dtype: str) -> None:
    assert first_wrong(np.array([0.9, np.nan, 1e30]), dtype) is None


@pytest.mark.parametrize(
    ("values", "dtype", "sentence"),
    [
        (
            np.array([[1, 2], [3, 300]]),
            "uint8",
            "300 at index [1, 1], but a uint8 input takes whole numbers from 0 to 255",
        ),
        (
            np.float32([1, 0.9]),
            "int8",
            "0.9 at index [1], but an int8 input takes whole numbers from -128 to 127",
        ),
        (np.float64(np.nan).reshape(()), "bool", "NaN, but a bool input takes 0 and 1"),
        (np.float32([-0.0, 1.0]), "bool", None),
        (np.zeros((2, 0)), "int32", None),
    ],
)
def test_sentences(values: np.ndarray, dtype: str, sentence: str | None) -> None:
    assert fault(values, dtype) == sentence
