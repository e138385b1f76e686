"""Plain text tables: aligned columns that read well on a terminal and in a file.

A report is fitted to a page that is narrower. Sentences and cells wrap between words. A long name
loses its middle, since the ends of names distinguish them. If that is not enough for a table,
columns are left out, the least important first, and a line below the table names them. On a page
without a width the report is complete, but for names in sentences that are too long for any page.
"""

from __future__ import annotations

import re
import textwrap
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from itertools import zip_longest
from typing import TYPE_CHECKING

from hexsim.errors import spelled

if TYPE_CHECKING:
    from hexsim.results.costs import TimeError

GAP = "  "
"""The space between columns."""
_SHORTEST = 18
"""The least number of characters to which names and lines of sentences are shortened."""
_LONGEST = 40
"""The number of characters to which a name in a sentence is shortened."""
_page: ContextVar[int | None] = ContextVar("page", default=None)
_COMMAND = re.compile(r"(.*\s\s|\s*+)(hexsim|echo|(snpe|qnn)-[\w-]++) ")
"""The beginning of a line that is a command, perhaps after a label."""
_LABEL = re.compile(r"(?:\S++(?: (?=\S))?+){0,3}\s\s++|")
"""A label, or only spaces, before the text of a line."""


@contextmanager
def page(columns: int | None) -> Iterator[None]:
    """Limit tables made in the block to `columns` characters; None sets no limit."""
    token = _page.set(columns)
    try:
        yield
    finally:
        _page.reset(token)


def wrapped(line: str) -> str:
    """Return a line of text as lines that fit the page; words are not broken.

    Later lines are indented, below the text if it has a label. A command stays whole, because it
    is there to be copied.
    """
    width = _page.get()
    if width is None or len(line) <= width or _COMMAND.match(line):
        return line
    label = _LABEL.match(line)
    head = label[0] if label else ""
    indent = " " * (len(head) if head.strip() else len(head) + 2)
    return textwrap.fill(
        line,
        width,
        subsequent_indent=indent,
        replace_whitespace=False,
        break_long_words=False,
        break_on_hyphens=False,
    )


class Fitted:
    """The columns of a table that a page shows, their widths, and how their cells wrap.

    `left` are the columns of names or sentences, which may be shortened. `first_to_go` are the
    columns that are left out first, the least important first; then follow the others from the
    right, except column 0. Between columns there is a `gap`, and on both sides together a `border`,
    in characters.
    """

    def __init__(
        self,
        lines: Sequence[Sequence[str]],
        left: frozenset[int],
        first_to_go: Sequence[int] = (),
        *,
        gap: int = len(GAP),
        border: int = 0,
    ) -> None:
        all_columns = range(len(lines[0]))
        self._left, self._gap, self._border = left, gap, border
        natural = [max(len(line[column]) for line in lines) for column in all_columns]
        least = [
            min(natural[column], max(self._least(line[column], column) for line in lines))
            for column in all_columns
        ]
        self.columns = list(all_columns)
        removable = [
            *first_to_go,
            *(c for c in reversed(all_columns) if c not in first_to_go and c),
        ]
        width = _page.get()
        while width is not None and removable and self._taken(least) > width:
            self.columns.remove(removable.pop(0))
        self.missing = [lines[0][column] for column in all_columns if column not in self.columns]
        self.widths = {column: natural[column] for column in self.columns}
        if width is not None and self._taken(natural) > width:
            self._share(width - self._taken(least), natural, least)

    def broken(self, line: Sequence[str]) -> Iterator[tuple[str, ...]]:
        """Yield the printed lines of a row, with a cell for each column that is shown.

        A row whose text is all in columns that are left out yields nothing.
        """
        cells = [self._broken(line[column], self.widths[column]) for column in self.columns]
        if any(map(any, cells)) or not any(line):
            yield from zip_longest(*cells, fillvalue="")

    def _taken(self, widths: Sequence[int]) -> int:
        gaps = self._gap * (len(self.columns) - 1)
        return sum(widths[column] for column in self.columns) + gaps + self._border

    def _least(self, cell: str, column: int) -> int:
        if column in self._left:
            return min(len(cell), _SHORTEST)
        return max(map(len, cell.split()), default=0)

    def _share(self, spare: int, natural: Sequence[int], least: Sequence[int]) -> None:
        """Divide the spare width among the columns, first to those that need the least."""
        needy = sorted(self.columns, key=lambda column: natural[column] - least[column])
        for at, column in enumerate(needy):
            more = min(natural[column] - least[column], max(spare, 0) // (len(needy) - at))
            self.widths[column] = least[column] + more
            spare -= more

    def remark(self) -> str:
        """Return a remark on the columns that are left out; empty if there are none."""
        missing = ", ".join(self.missing)
        return f"(no room for {missing}; {spelled('wide', True)} shows all)" if missing else ""

    @staticmethod
    def _broken(cell: str, width: int) -> list[str]:
        if len(cell) <= width:
            return [cell]
        words = textwrap.wrap(cell, width, break_long_words=False, break_on_hyphens=False)
        return [short_name(word, width) for word in words]


def short_name(name: str, width: int = _LONGEST, ending: float = 0.5) -> str:
    """Return `name` in at most `width` characters, without its middle if it is longer.

    `ending` is the part of the characters that its end gets.
    """
    if len(name) <= width:
        return name
    end = int((width - 1) * ending)
    return f"{name[: width - 1 - end]}…{name[len(name) - end :]}"


def short_names(names: Sequence[str], width: int = _LONGEST) -> list[str]:
    """Return names in at most `width` characters, so that those of one table stay apart.

    Long names lose what all of them begin with, up to a slash or dot, and then a part of their
    middle that most of them share.
    """
    first, last = (min(names), max(names)) if len(names) > 1 else ("", "")
    letters = enumerate(zip(first, last, strict=False))
    same = next((at for at, (a, b) in letters if a != b), min(len(first), len(last)))
    begun = max(first.rfind(mark, 0, same) for mark in "/.;") + 1
    if max(map(len, names), default=0) > width and begun > 1:
        names = [f"…{name[begun:]}" for name in names]
    ways = ([short_name(name, width, ending) for name in names] for ending in _ENDINGS)
    return max(ways, key=lambda way: len({*way}))


_ENDINGS = (0.5, 0.75, 1.0, 0.25, 0.0)
"""The parts of a short name that its end gets, in the order in which they are tried."""


def error_lines(known: Mapping[str, TimeError]) -> list[str]:
    """Return how far such times have been from measured ones, by runtime or place."""
    lines = []
    for own, words in ((True, " of this chip"), (False, ", each chip predicted without its own")):
        within = [f"{name} {e.median:.0%}" for name, e in known.items() if e.of_this_chip is own]
        if within:
            lines.append(f"median error beside measured times{words}: {', '.join(within)}")
    return lines


def table(
    header: Sequence[str],
    rows: Sequence[Sequence[str]],
    *,
    left: frozenset[int] = frozenset({0}),
    first_to_go: Sequence[int] = (),
    whole: frozenset[int] = frozenset(),
    explained: Mapping[tuple[str, ...], str] | None = None,
) -> str:
    """Return `rows` under `header`; columns in `left` are left-aligned, the others right.

    If the page is too narrow (hexsim.reports.text), the columns of `first_to_go` are left out
    first; names in columns of `whole` are not shortened. `explained` are the meanings of columns,
    which are listed below the table for the columns that are shown.
    """
    lines = [tuple(header), *(tuple(row) for row in rows)]
    fitted = Fitted(lines, left - whole, first_to_go)

    def show(line: Sequence[str]) -> Iterator[str]:
        for cells in fitted.broken(line):
            aligned = (
                cell.ljust(fitted.widths[column])
                if column in left
                else cell.rjust(fitted.widths[column])
                for column, cell in zip(fitted.columns, cells, strict=True)
            )
            yield GAP.join(aligned).rstrip()

    rule = GAP.join("-" * fitted.widths[column] for column in fitted.columns)
    printed = [*show(lines[0]), rule, *(text for line in lines[1:] for text in show(line))]
    shown_names = {header[column] for column in fitted.columns}
    meanings = {
        tuple(name for name in names if name in shown_names): meaning
        for names, meaning in (explained or {}).items()
    }
    legend = [f"{', '.join(names)}: {meaning}" for names, meaning in meanings.items() if names]
    return "\n".join([*printed, *filter(None, [fitted.remark()]), *([""] * bool(legend)), *legend])


def number(count: int, what: str) -> str:
    """Return `1 point`, `2 points`: a count with its noun."""
    return f"{count} {what}" if count == 1 else f"{count} {what}s"


_PREFIXES: dict[str, tuple[tuple[float, str], ...]] = {
    "Hz": ((1e9, "GHz"), (1e6, "MHz")),
    "B/s": ((1e9, "GB/s"), (1e6, "MB/s")),
    "B": ((2**20, "MiB"), (2**10, "KiB")),
    "s": ((1.0, "s"), (1e-3, "ms"), (1e-6, "us"), (1e-9, "ns")),
    "s/B": ((1e-9, "ns/B"), (1e-12, "ps/B")),
    "s/element": ((1e-9, "ns/element"), (1e-12, "ps/element")),
}


def quantity(value: float, unit: str) -> str:
    """Return a constant in the prefixed unit that suits it: `825 MHz`, `256 KiB`, `250 ns`."""
    for factor, prefixed in _PREFIXES.get(unit, ()):
        if value >= factor:
            return f"{value / factor:.4g} {prefixed}"
    return f"{value:.6g}" if unit == "1" else f"{value:.6g} {unit}"
