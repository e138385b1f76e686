"""A page is one file that asks nobody for anything, and no name gets out of its data.

Columns come out of a page as they went in, and those that repeat take less of it.
"""

import base64
import hashlib
import json
import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from hexsim.reports.pages.figures.chart import Figure, FigureTable
from hexsim.reports.pages.page import Heading, embedded, page, report, shortened
from tests.reports.pages.conftest import data_of
from tests.reports.pages.networks import HOSTILE

NAMES = [HOSTILE, "<!--<script>", "]]>&amp;", "a\u2028b\\u003c", "${data}$styles"]


@pytest.mark.parametrize("name", NAMES)
def test_data_cannot_leave_its_element(name: str) -> None:
    text = embedded({name: [name]})
    assert not set(text) & set("<>&\u2028")
    assert json.loads(text) == {name: [name]}


@pytest.mark.parametrize("name", NAMES)
def test_a_page_gives_back_its_data_and_has_no_other_element(name: str) -> None:
    made = page(name, "<p>body</p>", {"name": name}, ("network.css",), "network.js")
    assert data_of(made) == {"name": name}
    tags = set(re.findall(r"<(\w+)", re.sub(r"(?s)<script>.*?</script>", "", made)))
    assert tags == {"html", "head", "meta", "link", "title", "style", "body", "p", "script"}


def test_only_its_own_script_may_run_and_nothing_is_fetched() -> None:
    made = page("t", "", {}, ("network.css",), "network.js")
    scripts = re.findall(r"(?s)<script>(.*?)</script>", made)
    digests = [hashlib.sha256(script.encode()).digest() for script in scripts]
    names = [f"'sha256-{base64.b64encode(digest).decode()}'" for digest in digests]
    assert f"script-src {' '.join(names)};" in made
    assert "default-src 'none'" in made
    fetched = re.findall(r"""(?:src|href)=["']([^"']*)|url\(([^)]*)|@import""", made)
    assert {source for pair in fetched for source in pair if source} == {"data:,"}


def test_numbers_that_no_browser_reads_are_no_data() -> None:
    with pytest.raises(ValueError, match="not JSON compliant"):
        embedded({"value": float("nan")})


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
