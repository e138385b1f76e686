"""Shows progress on a terminal; nothing is shown if stderr is no terminal."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING

from hexsim.cli._say import report_progress

if TYPE_CHECKING:
    from rich.status import Status


class ProgressLine:
    """A line of progress on a terminal, replaced by the next one; None shows nothing."""

    def __init__(self, shown: Status | None = None) -> None:
        self._shown = shown

    def __call__(self, what: str) -> None:
        """Show what the program is doing."""
        if self._shown is not None:
            from rich.text import Text

            self._shown.update(Text(what))

    def print_above(self, text: str) -> None:
        """Print a part of the report while the line of progress is hidden."""
        if self._shown is not None:
            self._shown.stop()
        report_progress(text)
        if self._shown is not None:
            self._shown.start()


@contextmanager
def status() -> Iterator[ProgressLine]:
    """Yield a line of progress on stderr, which shows nothing if stderr is no terminal."""
    if not sys.stderr.isatty():
        yield ProgressLine()
        return
    from rich.console import Console

    with Console(stderr=True).status("starting") as shown:
        yield ProgressLine(shown)


@contextmanager
def bar(what: str, total: int) -> Iterator[Callable[[int], None]]:
    """Yield a function that shows on stderr how many of `total` are done."""
    if not sys.stderr.isatty():
        yield lambda done: None
        return
    from rich.console import Console
    from rich.progress import Progress

    with Progress(console=Console(stderr=True), transient=True) as progress:
        task = progress.add_task(what, total=total)
        yield lambda done: progress.update(task, completed=done)
