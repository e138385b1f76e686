"""Sentences of a page are short in the mean, and the page of a concept begins with an example."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path
from statistics import mean

import pytest

from benchmarks.pages import CONCEPTS, DOCS, ROOT

BOUND = 20
"""Words of a sentence, in the mean of a page."""
CONCEPT_BOUND = 18

_FENCE = re.compile(r"^ *```.*?^ *```$", re.MULTILINE | re.DOTALL)
_COMMENT = re.compile(r"<!--.*?-->", re.DOTALL)
_NO_PROSE = re.compile(r"#|\||>|    ")
_ITEM = re.compile(r" *(?:[-*]|\d+\.) +")
_END = re.compile(r"(?<=[^.\s][.!?])[\"')*_]*\s+(?=[\"'(*`\[]*[A-Z0-9])")


def paragraphs(text: str) -> Iterator[str]:
    """Yield paragraphs and list items, without code, tables, headings and worked examples."""
    lines: list[str] = []
    for line in [*_COMMENT.sub("", _FENCE.sub("", text)).splitlines(), ""]:
        item = _ITEM.match(line)
        ends = not line.strip() or item or (not lines and _NO_PROSE.match(line))
        if ends and lines:
            yield " ".join(lines)
            lines = []
        if item:
            lines = [line[item.end() :]]
        elif not ends:
            lines.append(line.strip())


def sentences(text: str) -> list[str]:
    """Return the sentences of a page; what ends a paragraph or an item ends a sentence."""
    parts = [part for paragraph in paragraphs(text) for part in _END.split(paragraph)]
    return [part for part in parts if re.search(r"\w", part)]


def words(sentence: str) -> int:
    """Count what is between spaces and is not only signs."""
    return sum(bool(re.search(r"\w", word)) for word in sentence.split())


@pytest.mark.parametrize(
    "page",
    [ROOT / "CONTRIBUTING.md", *sorted(DOCS.rglob("*.md"))],
    ids=lambda page: str(page.relative_to(ROOT)),
)
def test_sentences_are_short_in_the_mean(page: Path) -> None:
    bound = CONCEPT_BOUND if page.parent == CONCEPTS else BOUND
    found = sentences(page.read_text(encoding="utf-8"))
    longest = sorted(found, key=words)[-3:]
    assert mean(map(words, found)) <= bound, "\n".join(longest)


@pytest.mark.parametrize("page", sorted(CONCEPTS.glob("*.md")), ids=lambda page: page.name)
def test_the_page_of_a_concept_begins_with_an_example(page: Path) -> None:
    first, *_ = re.findall(r"^## (.+)$", page.read_text(encoding="utf-8"), re.MULTILINE)
    assert first == "An example"


def test_what_counts_as_a_sentence() -> None:
    text = (
        "# Not this\n\nOne is here. Two, of\nfour words: `a.b` (0 .. 1).\n\n- Three\n  goes on.\n"
        "- Four!\n\n| not | this |\n\n    nor = this\n\n```\nnor this\n```\n\n> Nor. This.\n"
    )
    assert sentences(text) == [
        "One is here.",
        "Two, of four words: `a.b` (0 .. 1).",
        "Three goes on.",
        "Four!",
    ]
    assert words("a - b (0 .. 1)") == 4
