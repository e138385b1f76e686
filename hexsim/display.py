"""What shows itself: a line in a prompt, a table with bars in a notebook, a frame of pandas.

A class that is `Shown` says what its table is; the rest follows. Notebooks ask an object for its
HTML by the name `_repr_html_`. Names come from files, so nothing of a cell is markup.

Left out: styles of a page, and charts, which are the reports'.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from html import escape
from importlib import import_module
from typing import Any

from hexsim.errors import HexsimError
from hexsim.texts.names import visible

MOST_ROWS = 200
"""Rows that are drawn; a notebook keeps all that it draws."""
_BAR_PIXELS = 120

Cell = str | int | float | None


@dataclass(frozen=True)
class DisplayTable:
    """A table: what it is about in a line, the names of its columns, and its rows.

    `bars` is the column whose numbers are drawn as bars too, if there is one.
    """

    title: str
    columns: tuple[str, ...]
    rows: tuple[tuple[Cell, ...], ...]
    bars: str | None = None


class Shown:
    """Something that can be read as a table."""

    def sheet(self) -> DisplayTable:
        """Return the table."""
        raise NotImplementedError

    def to_dataframe(self) -> Any:
        """Return the table as a pandas.DataFrame; HexsimError if pandas is not installed."""
        try:
            pandas = import_module("pandas")
        except ImportError:
            raise HexsimError(
                "a data frame needs pandas, which is not installed; pip install 'hexsim[notebook]'"
            ) from None
        sheet = self.sheet()
        return pandas.DataFrame(list(sheet.rows), columns=list(sheet.columns))

    def __repr__(self) -> str:
        return f"<{type(self).__name__}: {visible(self.sheet().title)}>"

    def _repr_html_(self) -> str:
        return "".join(_html(self.sheet()))


def _html(sheet: DisplayTable) -> Iterator[str]:
    yield f"<p><b>{_text(sheet.title)}</b></p><table><thead><tr>"
    at = sheet.columns.index(sheet.bars) if sheet.bars else None
    for column in sheet.columns:
        yield f"<th>{_text(column)}</th>"
    if at is not None:
        yield "<th></th>"
    yield "</tr></thead><tbody>"
    longest = max((_number(row[at]) for row in sheet.rows), default=0.0) if at is not None else 0.0
    for row in sheet.rows[:MOST_ROWS]:
        cells = "".join(f"<td>{_text(_written(cell))}</td>" for cell in row)
        bar = "" if at is None else f"<td>{_bar(_number(row[at]), longest)}</td>"
        yield f"<tr>{cells}{bar}</tr>"
    yield "</tbody></table>"
    if len(sheet.rows) > MOST_ROWS:
        yield f"<p>{len(sheet.rows) - MOST_ROWS} more rows; to_dataframe() has all.</p>"


def _bar(value: float, longest: float) -> str:
    """A bar as long as its number is of the longest."""
    width = round(_BAR_PIXELS * value / longest) if longest > 0 else 0
    return (
        f'<svg width="{_BAR_PIXELS}" height="10">'
        f'<rect width="{max(0, width)}" height="10" fill="#0072b2"/></svg>'
    )


def _number(cell: Cell) -> float:
    return float(cell) if isinstance(cell, int | float) else 0.0


def _written(cell: Cell) -> str:
    if cell is None:
        return ""
    return f"{cell:.5g}" if isinstance(cell, float) else f"{cell}"


def _text(text: str) -> str:
    return escape(visible(text))
