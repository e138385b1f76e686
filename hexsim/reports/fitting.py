"""How a table fits a page that is narrower than it: cells break, names are cut, columns go.

Cells break between words, and what a name has too much is left out of its middle, since the ends
of names tell them apart. Where that is not enough whole columns are left out, the least important
first, and are named below the table. Nothing is left out of a page without a width.
"""

from __future__ import annotations

import textwrap
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from itertools import zip_longest

GAP = "  "
"""Between columns."""
_SHORTEST = 18
"""Letters of a name, or of a line of a sentence, that stay in any case."""
_page: ContextVar[int | None] = ContextVar("page", default=None)


@contextmanager
def page(columns: int | None) -> Iterator[None]:
    """Let tables made in the block fit so many characters; None lets them take what they need."""
    token = _page.set(columns)
    try:
        yield
    finally:
        _page.reset(token)


class Fitted:
    """Which columns of a table a page shows, how wide they are, and how their cells break.

    `left` are those that hold names or sentences, which may be cut; `first_to_go` those that can
    be missed, the least important first. After them go the others from the right, but the first.
    Between columns there is a `gap`, and on both sides together a `border`, in characters.
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
        every = range(len(lines[0]))
        self._left, self._gap, self._border = left, gap, border
        natural = [max(len(line[column]) for line in lines) for column in every]
        least = [
            min(natural[column], max(self._least(line[column], column) for line in lines))
            for column in every
        ]
        self.columns = list(every)
        going = [*first_to_go, *(c for c in reversed(every) if c not in first_to_go and c)]
        width = _page.get()
        while width is not None and going and self._taken(least) > width:
            self.columns.remove(going.pop(0))
        self.missing = [lines[0][column] for column in every if column not in self.columns]
        self.widths = {column: natural[column] for column in self.columns}
        if width is not None and self._taken(natural) > width:
            self._share(width - self._taken(least), natural, least)

    def broken(self, line: Sequence[str]) -> Iterator[tuple[str, ...]]:
        """The printed lines of a line of the table, a cell for each column that is shown.

        None if all that it holds is in columns that are not.
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
        """Give the room that is left to the columns, first to those that need little of it."""
        needy = sorted(self.columns, key=lambda column: natural[column] - least[column])
        for at, column in enumerate(needy):
            more = min(natural[column] - least[column], max(spare, 0) // (len(needy) - at))
            self.widths[column] = least[column] + more
            spare -= more

    def remark(self) -> str:
        """What is said of columns that are left out; empty if none is."""
        return f"(no room for {', '.join(self.missing)}; --wide shows all)" if self.missing else ""

    @staticmethod
    def _broken(cell: str, width: int) -> list[str]:
        if len(cell) <= width:
            return [cell]
        words = textwrap.wrap(cell, width, break_long_words=False, break_on_hyphens=False)
        return [_cut(word, width) for word in words]


def _cut(name: str, width: int) -> str:
    if len(name) <= width:
        return name
    tail = (width - 1) // 2
    return f"{name[: width - 1 - tail]}…{name[len(name) - tail :]}"
