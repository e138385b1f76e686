"""No function is long or takes many parameters, and no file is long."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from statistics import median

import pytest

from tests.imports import CHECKOUT

MOST_LINES = 60
"""Lines of a function, from `def` to its end, docstring included."""

MOST_PARAMETERS = 8
"""Parameters of a function, self and cls aside; * and ** count as one each.

Those of `__init__` may be more: they stand for the fields of a class.
"""

MOST_FILE_LINES, MEDIAN_FILE_LINES = 500, 150

FOLDERS = ("hexsim", "models")

EXEMPT = Path("hexsim/int8/machine_code")
"""Writes out machine code, instruction by instruction."""


@dataclass(frozen=True)
class Function:
    """A function of a file, and how large it is."""

    file: str
    line: int
    name: str
    lines: int
    parameters: int

    @property
    def excess(self) -> str | None:
        """A sentence that says by what it is too large, if it is."""
        excesses = []
        if self.lines > MOST_LINES:
            excesses.append(f"has {self.lines} lines, at most {MOST_LINES} are allowed")
        if self.parameters > MOST_PARAMETERS:
            excesses.append(
                f"has {self.parameters} parameters, at most {MOST_PARAMETERS} are allowed"
            )
        return f"{self.file}:{self.line} {self.name} {' and '.join(excesses)}" if excesses else None


def functions(file: str, source: str) -> Iterator[Function]:
    for node in ast.walk(ast.parse(source)):
        if not isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
            continue
        given = node.args
        every = [*given.posonlyargs, *given.args, *given.kwonlyargs, given.vararg, given.kwarg]
        names = [
            parameter.arg
            for parameter in every
            if parameter is not None and parameter.arg not in ("self", "cls")
        ]
        parameters = 0 if node.name == "__init__" else len(names)
        lines = (node.end_lineno or node.lineno) - node.lineno + 1
        yield Function(file, node.lineno, node.name, lines, parameters)


def sources() -> Iterator[tuple[Path, str]]:
    for folder in FOLDERS:
        for path in sorted((CHECKOUT / folder).rglob("*.py")):
            yield path.relative_to(CHECKOUT), path.read_text(encoding="utf-8")


def test_functions_are_short_and_take_few_parameters() -> None:
    excesses = [
        function.excess
        for path, text in sources()
        if not path.is_relative_to(EXEMPT)
        for function in functions(path.as_posix(), text)
        if function.excess is not None
    ]
    assert not excesses, "\n".join(excesses)


@pytest.mark.parametrize(
    ("source", "message"),
    [
        ("def f(a, b):\n" + "    a += b\n" * 59, None),
        ("def f(a, b):\n" + "    a += b\n" * 60, "x.py:1 f has 61 lines, at most 60 are allowed"),
        ("class A:\n  def f(self, a, b, c, d, *, e, f, g, h): ...", None),
        ("class A:\n  def __init__(self, a, b, c, d, e, f, g, h, i): ...", None),
        (
            "class A:\n  async def f(self, a, b, c, /, d, *e, f, g, h, **i): ...",
            "x.py:2 f has 9 parameters, at most 8 are allowed",
        ),
        ("def outer():\n  def f(a, b, c, d, e, f, g, h, i): ...", "x.py:2 f has 9 parameters"),
    ],
)
def test_what_is_counted(source: str, message: str | None) -> None:
    excesses = [
        function.excess for function in functions("x.py", source) if function.excess is not None
    ]
    if message is None:
        assert excesses == []
    else:
        assert [excess.startswith(message) for excess in excesses] == [True]


def test_files_are_short() -> None:
    sizes = {path: len(text.splitlines()) for path, text in sources()}
    long = [
        f"{path} has {lines} lines, at most {MOST_FILE_LINES} are allowed"
        for path, lines in sizes.items()
        if lines > MOST_FILE_LINES
    ]
    assert not long, "\n".join(long)
    assert median(sizes.values()) < MEDIAN_FILE_LINES
