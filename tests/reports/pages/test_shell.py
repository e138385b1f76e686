"""A page is one file that asks nobody for anything, and no name gets out of its data."""

import base64
import hashlib
import json
import re

import pytest

from hexsim.reports.pages.shell import embedded, page
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
    script = re.search(r"(?s)<script>(.*)</script>", made)
    assert script
    digest = base64.b64encode(hashlib.sha256(script[1].encode()).digest()).decode()
    assert f"script-src 'sha256-{digest}'" in made
    assert "default-src 'none'" in made
    fetched = re.findall(r"""(?:src|href)=["']([^"']*)|url\(([^)]*)|@import""", made)
    assert {source for pair in fetched for source in pair if source} == {"data:,"}


def test_numbers_that_no_browser_reads_are_no_data() -> None:
    with pytest.raises(ValueError, match="not JSON compliant"):
        embedded({"value": float("nan")})
