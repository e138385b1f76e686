"""Reports are as wide as the terminal, or as they need."""

from __future__ import annotations

from collections.abc import Callable

import pytest

Command = Callable[[str], tuple[int, str, str]]
LINES = (
    pytest.param("models list", marks=pytest.mark.slow),
    "chips list",
    "chips show sd855",
    "stacks list",
    "profile dronet_112",
    "bench --model dronet_112 --timing-only",
    "profile dronet_112 --quantize --roofline",
    "partition dronet_112",
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
