"""Every line of a command in README and docs is one that hexsim takes: its name and its options."""

from __future__ import annotations

import re
import shlex
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import typer

from hexsim.cli.app import NAMES, loaded

ROOT = Path(__file__).parents[2]
PAGES = [ROOT / "README.md", *sorted((ROOT / "docs").rglob("*.md"))]
LINE = re.compile(r"^(?:\$ )?hexsim ([a-z][^\n]*)$", re.MULTILINE)
BLOCK = re.compile(r"^```[^\n]*\n(.*?)^```", re.MULTILINE | re.DOTALL)


def lines(page: Path) -> Iterator[list[str]]:
    """Yield the words of each line in blocks of code that begins with hexsim."""
    for block in BLOCK.findall(page.read_text(encoding="utf-8")):
        for line in LINE.findall(block.replace("\\\n", " ")):
            yield shlex.split(line, comments=True)


def unknown(words: list[str]) -> list[str]:
    """Return the options of a line that its command does not have; a model is an overview."""
    first, *rest = words if words[0] in NAMES else ["overview", *words]
    command: Any = typer.main.get_command(loaded(first))
    if parts := getattr(command, "commands", None):
        name = rest.pop(0) if rest and rest[0] in parts else {"sweep": "run"}.get(first, "list")
        command = parts[name]
    known = {name for each in command.params for name in (*each.opts, *each.secondary_opts)}
    options = [word.partition("=")[0] for word in rest if re.match("--?[a-z]", word)]
    return [option for option in options if option not in {*known, "--help"}]


def test_there_are_lines() -> None:
    assert sum(1 for page in PAGES for _ in lines(page)) > 150


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.relative_to(ROOT).as_posix())
def test_lines_are_those_of_commands(page: Path) -> None:
    wrong = {" ".join(words): missing for words in lines(page) if (missing := unknown(words))}
    assert wrong == {}


def test_a_line_that_is_none_would_be_found() -> None:
    assert unknown(["profile", "m.onnx", "--longest"]) == ["--longest"]
    assert unknown(["roofline", "m.onnx", "-o", "x.png"]) == ["-o"]
