"""Cells are data, whatever program opens them."""

import csv
import io

import pytest

from hexsim.texts.csv_text import csv_text


@pytest.mark.parametrize("name", ["=1+1", "+cmd", "-conv", "@SUM(A1)"])
def test_no_cell_is_a_formula(name: str) -> None:
    _, (cell,) = csv.reader(io.StringIO(csv_text(["name"], [[name]]), newline=""))
    assert cell == f"'{name}"


@pytest.mark.parametrize(
    ("value", "cell"),
    [
        (-1.5, "-1.5"),
        ("-12.125", "-12.125"),
        ("+inf", "+inf"),
        (None, ""),
        ("a,b", "a,b"),
        ("\r=1", r"\r=1"),
    ],
)
def test_numbers_and_other_texts_stay(value: object, cell: str) -> None:
    assert list(csv.reader(csv_text(["a", "b"], [[value, 0]]).splitlines())) == [
        ["a", "b"],
        [cell, "0"],
    ]
