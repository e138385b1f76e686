"""A datasheet written and read again is the same one."""

import tomllib
from pathlib import Path

import pytest

from hexsim.datasheets import chips, stacks
from hexsim.datasheets.datasheet import Datasheet
from hexsim.datasheets.datasheet_text import datasheet_text

SHEETS: list[Datasheet] = [
    *(chips.load(name) for name in chips.names()),
    *(stacks.load(name) for name in stacks.names()),
]


@pytest.mark.parametrize("sheet", SHEETS, ids=lambda sheet: sheet.name)
def test_every_shipped_sheet_comes_back(sheet: Datasheet) -> None:
    text = datasheet_text(sheet, sheet.title)
    assert tomllib.loads(text) == sheet.tree


def test_a_sheet_that_was_written_is_loaded_by_its_path(tmp_path: Path) -> None:
    moved = stacks.load("snpe-1.30").with_value("dispatch.node_clk", 1234.5)
    file = tmp_path / "mine.toml"
    file.write_text(datasheet_text(moved, 'of "mine"'), encoding="utf-8")
    read = stacks.load(file)
    assert read.dispatch.node_clk == 1234.5
    assert (read.name, read.title) == ("snpe-1.30", 'of "mine"')
    assert list(read.quantities()) == list(moved.quantities())
