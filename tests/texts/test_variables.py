"""No variable and no parameter has a name that says nothing of what it holds."""

import ast
import re
from collections.abc import Iterator

import pytest

from tests.imports import CHECKOUT

EMPTY_NAMES = {"found", "one", "told"}
"""Words that would fit any value. A result, an item or a message has a name of its own."""

WRITTEN = re.compile(rf"\b(?:{'|'.join(EMPTY_NAMES)})\b")
"""The words, in prose or in code."""

PROSE = re.compile(r'""".*?"""', re.DOTALL)
"""Most files have the words in docstrings alone, if at all; the others are parsed."""

FOLDERS = ("benchmarks", "examples", "hexsim", "models", "tests")


def bindings(node: ast.AST) -> Iterator[str]:
    """Names that a node gives to a value, an argument or a function."""
    match node:
        case ast.Name(id=name, ctx=ast.Store()) | ast.arg(arg=name):
            yield name
        case ast.FunctionDef(name=name) | ast.AsyncFunctionDef(name=name):
            yield name
        case ast.ExceptHandler(name=str(name)) | ast.MatchAs(name=str(name)):
            yield name
        case ast.MatchStar(name=str(name)) | ast.MatchMapping(rest=str(name)):
            yield name


def empty_names(source: str) -> list[tuple[int, str]]:
    """The line of each such name, and the name."""
    return [
        (node.lineno, name)
        for node in ast.walk(ast.parse(source))
        for name in bindings(node)
        if name in EMPTY_NAMES
    ]


def test_names_say_what_they_hold() -> None:
    complaints = [
        f"{path.relative_to(CHECKOUT)}:{line} '{name}' says nothing of what it holds"
        for folder in FOLDERS
        for path in sorted((CHECKOUT / folder).rglob("*.py"))
        for text in [path.read_text(encoding="utf-8")]
        if WRITTEN.search(PROSE.sub("", text))
        for line, name in empty_names(text)
    ]
    assert not complaints, "\n".join(complaints)


@pytest.mark.parametrize(
    "source",
    [
        "found = 1",
        "first, *found = 1, 2",
        "found: int",
        "[found for found in ()]",
        "lambda found: 1",
        "def found(): ...",
        "def f(*found): ...",
        "def f(*, found=1): ...",
        "with f() as found: ...",
        "if found := f(): ...",
        "try: ...\nexcept ValueError as found: ...",
        "match 1:\n  case found: ...",
        "match 1:\n  case [*found]: ...",
        "match 1:\n  case {**found}: ...",
    ],
)
def test_every_way_to_name_something_is_seen(source: str) -> None:
    assert [name for _, name in empty_names(source)] == ["found"]


@pytest.mark.parametrize(
    "source", ["answer.found", "f(found=1)", "'found'", "from a import found", "founded = found"]
)
def test_what_names_nothing_new_is_not_counted(source: str) -> None:
    assert empty_names(source) == []
