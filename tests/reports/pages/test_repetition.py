"""Columns come out of a page as they went in, and those that repeat take less of it."""

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from hexsim.reports.pages.figures.figure import Figure, FigureTable
from hexsim.reports.pages.repetition import shortened
from hexsim.reports.pages.report import Heading, report
from tests.reports.pages.conftest import data_of

values = st.one_of(
    st.integers(),
    st.floats(allow_nan=False, allow_infinity=False),
    st.sampled_from(["at", "b", ""]),
)


@given(st.lists(values, max_size=80), st.lists(values, max_size=3))
def test_all_values_come_back(once: list[object], repeated: list[object]) -> None:
    rows = [(value,) for value in once]
    choices = {"at": {"x": once, "y": 40 * repeated}, "distinct": {"at": 40 * repeated}}
    figure = Figure("f", "", FigureTable(("value",), rows), choices=choices)
    page = data_of(report(Heading("t", "s", "c", ()), [figure]))
    (drawn,) = page["figures"]
    assert drawn["choices"] == choices
    assert drawn["table"]["rows"] == [list(row) for row in rows]


def test_what_repeats_takes_less() -> None:
    column = [name for name in ("layer_0001", "layer_0002") for _ in range(500)]
    assert len(json.dumps(shortened({"name": column}))) < len(json.dumps(column)) / 4


@pytest.mark.parametrize("column", [["a"] * 31, [str(number) for number in range(99)], [1] * 99])
def test_other_columns_stay(column: list[object]) -> None:
    assert shortened(column) == column
