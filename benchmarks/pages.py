"""Tables that a program writes into a page of the documentation, between two marks."""

from __future__ import annotations

import sys
from collections.abc import Callable, Mapping
from pathlib import Path

from hexsim.files.atomic_write import write_text

ROOT = Path(__file__).parents[1]
DOCS = ROOT / "docs"
CONCEPTS = DOCS / "concepts"
RESULTS = DOCS / "results"
REFERENCE = DOCS / "reference"


def with_block(text: str, name: str, body: str) -> str:
    """Return `text` with `body` between the marks `<!-- name: begin -->` and `... end -->`."""
    begin, end = f"<!-- {name}: begin -->\n", f"<!-- {name}: end -->"
    before, rest = text.split(begin)
    return before + begin + body.rstrip("\n") + "\n" + end + rest.split(end)[1]


def with_blocks(text: str, bodies: Mapping[str, str]) -> str:
    """Return `text` with every body between the marks of its name."""
    for name, body in bodies.items():
        text = with_block(text, name, body)
    return text


def block(text: str, name: str) -> str:
    """Return what `with_block` has put between the marks."""
    begin, end = f"<!-- {name}: begin -->\n", f"<!-- {name}: end -->"
    return text.split(begin)[1].split(end)[0]


def fenced(text: str) -> str:
    """Return a text table as a code block."""
    return f"```\n{text}\n```"


def print_or_write(
    file: Path, page: Callable[[], str], shown: Callable[[], str] | None = None
) -> None:
    """Write the page if the command line has --write; else print it, or what is to be shown."""
    if "--write" in sys.argv:
        write_text(file, page())
    else:
        print((shown or page)())
