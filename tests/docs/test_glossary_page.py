"""The glossary has every noun of the map, and names code that exists."""

from __future__ import annotations

from benchmarks.glossary import PAGE, entries, nouns, page
from tests.docs.test_architecture import _NOUN, MAP
from tests.docs.test_paths import resolves


def test_the_page_is_that_of_the_program() -> None:
    assert PAGE.read_text(encoding="utf-8") == page(), "python -m benchmarks.glossary --write"


def test_every_noun_of_the_map_is_listed() -> None:
    assert [(noun.word, noun.code) for noun in nouns()] == _NOUN.findall(MAP)


def test_a_word_is_listed_once_with_a_sentence() -> None:
    words = [entry.word.casefold() for entry in entries()]
    assert words == sorted(set(words))
    assert all(entry.meaning.endswith(".") and "|" not in entry.meaning for entry in entries())


def test_the_code_exists() -> None:
    assert all(resolves(entry.code) for entry in entries())
