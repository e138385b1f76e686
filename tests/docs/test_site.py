"""The site leads a page's links to its own places, and lists each page once."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest

from benchmarks.pages import DOCS
from benchmarks.site import (
    anchor,
    in_repository,
    in_site,
    navigation,
    questions,
    with_links_of_the_site,
    with_questions,
)
from tests.docs.test_paths import anchors


@pytest.mark.parametrize(
    ("page", "link", "led"),
    [
        ("docs/index.md", "concepts/entry.md#an-example", "concepts/entry.md#an-example"),
        ("docs/index.md", "../README.md", "index.md"),
        ("docs/recipes/chip.md", "../../CHANGELOG.md", "../CHANGELOG.md"),
        ("docs/recipes/chip.md", "../index.md", "../contents.md"),
        ("README.md", "docs/index.md", "contents.md"),
        ("README.md", "docs/concepts/entry.md", "concepts/entry.md"),
        ("docs/concepts/udl.md", "../../examples/own_layers.py", "../examples/own_layers.py"),
        ("README.md", "https://ui.perfetto.dev", "https://ui.perfetto.dev"),
    ],
)
def test_a_link_leads_to_the_same_page(page: str, link: str, led: str) -> None:
    assert with_links_of_the_site(f"See [it]({link}).", page) == f"See [it]({led})."


def test_code_is_left_as_it_is() -> None:
    text = "```\n[it](docs/index.md)\n```"
    assert with_links_of_the_site(text, "README.md") == text


@pytest.mark.parametrize(
    "page", ["README.md", "docs/index.md", "docs/concepts/entry.md", "SECURITY.md"]
)
def test_a_page_has_one_place(page: str) -> None:
    assert in_repository(in_site(page)) == page


def test_each_page_is_in_the_navigation_once() -> None:
    listed = [*pages(navigation((DOCS / "index.md").read_text(encoding="utf-8")))]
    assert len(listed) == len(set(listed))
    assert {f"docs/{page.relative_to(DOCS)}" for page in DOCS.rglob("*.md")} <= {
        in_repository(page) for page in listed
    }


def test_a_page_begins_with_the_questions_that_it_answers() -> None:
    asked = questions((DOCS / "index.md").read_text(encoding="utf-8"))
    assert asked["concepts/peak-memory.md"] == ["How much memory does my network need?"]
    assert asked["SECURITY.md"] == ["Can I open a file that I do not trust?"]
    assert {in_site("docs/concepts/throughput.md"), "concepts/background.md"} <= set(asked)
    assert with_questions("# One\n\nText.", ["Why?", "How?"]) == "# One\n\n*Why?*\n*How?*\n\nText."
    assert with_questions("# One", []) == "# One"


def pages(nav: list[Any]) -> Iterator[str]:
    """The pages of a navigation, whatever sections they are in."""
    for entry in nav:
        if isinstance(entry, str):
            yield entry
        else:
            for section in entry.values():
                yield from pages(section)


def test_anchors_are_those_of_the_links() -> None:
    heading = "One `two`, three: (four) & five"
    assert {anchor(heading, "-")} == anchors(f"# {heading}\n")
