"""The pages on commands say what the program takes today, and the index lists them."""

from __future__ import annotations

import re

import pytest

from benchmarks.commands_page import FOLDER, INDEX, commands, index, pages
from hexsim.cli import main

RENEW = "python -m benchmarks.commands_page --write"


def test_the_pages_are_those_of_the_program() -> None:
    written = {page.name: page.read_text(encoding="utf-8") for page in FOLDER.glob("*.md")}
    assert written == pages(), RENEW


def test_the_index_lists_them() -> None:
    assert INDEX.read_text(encoding="utf-8") == index(), RENEW


@pytest.mark.parametrize("name", commands())
def test_a_page_has_the_options_that_the_help_has(
    name: str, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr("sys.argv", ["hexsim", *name.split(), "--help"])
    monkeypatch.setenv("COLUMNS", "200")
    with pytest.raises(SystemExit):
        main()
    page = pages()[f"{name.replace(' ', '-')}.md"]
    assert options(capsys.readouterr().out, "│") - {"--help"} == options(page, "|")


def options(text: str, edge: str) -> set[str]:
    """The first name of each row of a table that is an option's."""
    return set(re.findall(rf"^{re.escape(edge)}[ *`]*(--\w[\w-]*)", text, re.MULTILINE))
