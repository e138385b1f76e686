"""Commands whose options stand in dataclasses."""

from __future__ import annotations

import inspect
from collections.abc import Callable
from dataclasses import dataclass
from typing import Annotated

import pytest
import typer
from typer.testing import CliRunner

from hexsim.cli._signature import grouped

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


Command = Callable[[str], tuple[int, str, str]]
LINES = (
    pytest.param("models list", marks=pytest.mark.slow),
    "chips list",
    "chips show sd855",
    "stacks list",
    "profile dronet_112",
    "bench --chip sd835 --model dronet_112 --timing-only",
    "profile --chip sd835 dronet_112 --roofline",
    "partition dronet_112 --chip sd855 --runtime aip",
    "info dronet_112",
)


@pytest.mark.parametrize("line", LINES)
def test_tables_fit_a_terminal_of_80_columns(
    line: str, command: Command, monkeypatch: pytest.MonkeyPatch
) -> None:
    code, whole, _ = command(line)
    assert code == 0
    monkeypatch.setenv("COLUMNS", "80")
    assert command(f"{line} --wide")[1] == whole
    printed = command(line)[1].splitlines()
    rules = [n for n, line in enumerate(printed) if line and not line.strip("- ")]
    assert rules
    for rule in rules:
        assert len(printed[rule]) <= 80
        assert len(printed[rule - 1]) <= 80 >= len(printed[rule + 1])


@pytest.mark.parametrize(
    ("line", "columns"),
    [
        ("profile dronet_112", ["layer", "engine", "us", "bound"]),
        ("info alexnet", ["id", "layer", "output", "MACs"]),
        ("decide dronet_112 --files --chips sd855", ["file", "runtime", "inference", "SQNR"]),
    ],
)
def test_what_matters_most_stays_on_a_page_of_60_columns(
    line: str, columns: list[str], command: Command, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("COLUMNS", "60")
    lines = command(line)[1].splitlines()
    head = next(line for line in lines if line.strip("| ").startswith(f"{columns[0]} "))
    assert len(head) <= 60
    assert [name for name in columns if name not in head] == []
