"""The page of a concept begins with an example."""

import re
from pathlib import Path

import pytest

from benchmarks.pages import CONCEPTS


@pytest.mark.parametrize("page", sorted(CONCEPTS.glob("*.md")), ids=lambda page: page.name)
def test_the_page_of_a_concept_begins_with_an_example(page: Path) -> None:
    first, *_ = re.findall(r"^## (.+)$", page.read_text(encoding="utf-8"), re.MULTILINE)
    assert first == "An example"
