"""What kernels cost has a name, and the name says where the number is from."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.imports import CHECKOUT

FOLDERS = ("hvx/kernels", "hta", "htp", "host")
FILES = [file for f in FOLDERS for file in sorted((CHECKOUT / "hexsim" / f).glob("*.py"))]
BY_DEFINITION = {0, 1, 2, 4, 8}
"""Counts and halves, bytes of a word or pixels of a vector, bits of a byte."""
_COST = re.compile(r"PACKETS|THREADS|WORKERS|VECTORS$|_(ROW|VECTOR|CALL|PAIR|SLICE)$")
_CONFIDENCE = re.compile(r"\b(documented|inferred|calibrated|assumed|counted)\b")


def bare_numbers(code: str) -> Iterator[str]:
    """The lines of functions that calculate with numbers that have no name."""
    functions = (node for node in ast.walk(ast.parse(code)) if isinstance(node, ast.FunctionDef))
    nodes = (inner for function in functions for inner in ast.walk(function))
    for node in (n for n in nodes if isinstance(n, ast.BinOp) and not isinstance(n.op, ast.Mod)):
        numbers = (s for s in (node.left, node.right) if isinstance(s, ast.Constant))
        for number in numbers:
            if isinstance(number.value, int | float) and number.value not in BY_DEFINITION:
                yield code.splitlines()[number.lineno - 1].strip()


def costs_without_source(code: str) -> Iterator[str]:
    """The names of costs whose own docstring says no confidence."""
    body = ast.parse(code).body
    for node, after in zip(body, [*body[1:], ast.Pass()], strict=True):
        if isinstance(node, ast.Assign) and _holds_numbers(node.value):
            names = [n.id for n in ast.walk(node.targets[0]) if isinstance(n, ast.Name)]
            is_cost = any(map(_COST.search, names)) or _is_table(node.value)
            said = ast.unparse(after) if isinstance(after, ast.Expr) else ""
            if is_cost and not _CONFIDENCE.search(said):
                yield from names


def _is_table(value: ast.expr) -> bool:
    """Whether it is a record of costs by name, as the packets around a loop are."""
    return isinstance(value, ast.Call) and any(
        isinstance(keyword.value, ast.Constant) and type(keyword.value.value) is int
        for keyword in value.keywords
    )


def _holds_numbers(value: ast.expr) -> bool:
    numbers = (n.value for n in ast.walk(value) if isinstance(n, ast.Constant))
    return any(isinstance(number, int | float) for number in numbers)


@pytest.mark.parametrize("file", FILES, ids=lambda file: f"{file.parent.name}/{file.name}")
def test_costs_have_names_and_sources(file: Path) -> None:
    code = file.read_text(encoding="utf-8")
    assert not list(bare_numbers(code))
    assert not list(costs_without_source(code))


def test_a_bare_number_and_a_name_alone_are_found() -> None:
    code = "_ROW_PACKETS = 12\n\ndef cost(rows: int) -> int:\n    return 13 * rows + 2\n"
    assert list(bare_numbers(code)) == ["return 13 * rows + 2"]
    assert list(costs_without_source(code)) == ["_ROW_PACKETS"]
    assert not list(costs_without_source(f'{code[:18]}"""Of a row (assumed)."""\n{code[18:]}'))
    another = '_CALL_PACKETS = 3\n"""Of a call (assumed)."""\nV60 = Around(tile=3)\n'
    assert list(costs_without_source(another + code)) == ["V60", "_ROW_PACKETS"]
