"""Commands whose options stand in dataclasses."""

from __future__ import annotations

import inspect
from dataclasses import dataclass
from typing import Annotated

import pytest
import typer
from typer.testing import CliRunner

from hexsim.cli._groups import grouped

_seen: list[tuple[str, int, bool]] = []


@dataclass(frozen=True)
class Size:
    width: Annotated[int, typer.Option("--width", min=1)] = 3
    deep: Annotated[bool, typer.Option("--deep")] = False


@grouped
def add(*, name: Annotated[str, typer.Argument()], size: Size) -> None:
    """Note what was given."""
    _seen.append((name, size.width, size.deep))


@grouped
def wide(*, size: Size = Size(30)) -> None:
    """Have another default."""
    _seen.append(("wide", size.width, size.deep))


@pytest.mark.parametrize(
    ("command", "words", "given"),
    [
        (add, ["a"], ("a", 3, False)),
        (add, ["--deep", "a", "--width", "5"], ("a", 5, True)),
        (wide, [], ("wide", 30, False)),
        (wide, ["--width", "4"], ("wide", 4, False)),
    ],
)
def test_fields_are_options(command: object, words: list[str], given: object) -> None:
    app = typer.Typer()
    app.command()(command)  # type: ignore[type-var]
    _seen.clear()
    result = CliRunner().invoke(app, words)
    assert result.exit_code == 0, result.output
    assert _seen == [given]


def test_checks_of_options_are_kept() -> None:
    app = typer.Typer()
    app.command()(add)
    assert CliRunner().invoke(app, ["a", "--width", "0"]).exit_code == 2


def test_help_is_the_command_s() -> None:
    assert add.__doc__ == "Note what was given."
    assert list(inspect.signature(add).parameters) == ["name", "width", "deep"]
