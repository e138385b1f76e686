"""Report: the report of a command as a Python object, which shows itself and can be saved.

In a prompt it is the text that the command prints. In a notebook the tables of that text are tables
of HTML, and the lines between them stay as they are.
"""

import json
import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from html import escape
from pathlib import Path
from typing import Any

from hexsim.errors import HexsimError
from hexsim.files import write_bytes
from hexsim.reports.fitting import GAP

_RULE = re.compile(rf"-+(?:{GAP}-+)*")
_SUFFIXES = {".json": "json", ".csv": "csv", ".html": "html", ".svg": "graph"}


@dataclass(frozen=True, repr=False)
class Report:
    """What a command reports: `text` as it is printed, and `remarks` as on the error stream.

    `files` makes the files that the command can write, by the names of its options. `exit_code` is
    that of the command: 1 if `decide` has no choice left.
    """

    text: str
    remarks: tuple[str, ...]
    files: Mapping[str, Callable[[], str | bytes]]
    exit_code: int = 0

    def __repr__(self) -> str:
        return "\n".join((self.text, *self.remarks))

    def _repr_html_(self) -> str:
        return "".join(_html(repr(self).split("\n")))

    @property
    def facts(self) -> Any:
        """The JSON, parsed: dictionaries and lists."""
        return json.loads(self.to_json())

    def to_json(self) -> str:
        """Return the JSON that the command writes."""
        return self._content("json").decode()

    def save(self, path: str | Path, kind: str | None = None) -> None:
        """Write a file as the command does: .json, .csv, .html or .svg, or of the `kind` given.

        `kind` is an option of the command: "json", "csv", "html", "trace", "graph" or "rows".
        Raises HexsimError if the command has no such file, or it cannot be written.
        """
        suffix = Path(path).suffix.lower()
        if kind is None and suffix not in _SUFFIXES:
            raise HexsimError(f"'{path}' ends in none of {', '.join(_SUFFIXES)}; give its kind")
        write_bytes(Path(path), self._content(kind or _SUFFIXES[suffix]))

    def _content(self, kind: str) -> bytes:
        if kind not in self.files:
            raise HexsimError(f"this report has no {kind}; it has {', '.join(sorted(self.files))}")
        content = self.files[kind]()
        return content if isinstance(content, bytes) else content.encode(errors="backslashreplace")


def _html(lines: list[str]) -> Iterator[str]:
    """Yield printed lines as HTML: each table of `hexsim.reports.text` as a table."""
    start = 0
    for rule, line in enumerate(lines):
        if rule and _RULE.fullmatch(line):
            columns = [column.span() for column in re.finditer("-+", line)]
            below = range(rule + 1, len(lines))
            stop = next((n for n in below if not _fits(lines[n], columns)), len(lines))
            table = [lines[rule - 1], *lines[rule + 1 : stop]]
            cells = [[row[first:last] for first, last in columns] for row in table]
            left = [not any(row[n].startswith(" ") for row in cells) for n in range(len(columns))]
            yield _plain(lines[start : rule - 1]) + "<table>"
            yield from (_row(row, left, "td" if n else "th") for n, row in enumerate(cells))
            yield "</table>"
            start = stop
    yield _plain(lines[start:])


def _fits(line: str, columns: list[tuple[int, int]]) -> bool:
    """Return whether a line is a row of the table that has these columns."""
    return bool(line) and not any(line[end : end + len(GAP)].strip() for _, end in columns)


def _row(cells: list[str], left: list[bool], tag: str) -> str:
    shown = (
        f'<{tag} style="text-align:{"left" if is_left else "right"}">{escape(cell.strip())}</{tag}>'
        for cell, is_left in zip(cells, left, strict=True)
    )
    return f"<tr>{''.join(shown)}</tr>"


def _plain(lines: list[str]) -> str:
    text = "\n".join(lines).strip("\n")
    return f"<pre>{escape(text)}</pre>" if text else ""
