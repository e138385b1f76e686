"""Shows on stderr what functions say while they work: warnings, notes and progress.

Progress is for a person, so nothing of it is shown if stderr is no terminal.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager
from typing import TYPE_CHECKING

from hexsim.cli._say import log, report_progress
from hexsim.errors import Listener

if TYPE_CHECKING:
    from rich.status import Status


class Terminal(Listener):
    """Shows it on stderr; a line of progress is replaced by the next one."""

    def __init__(self) -> None:
        self._line: Status | None = None

    def warning(self, sentence: str) -> None:
        """Print a warning."""
        log("WARNING", sentence)

    def note(self, sentence: str) -> None:
        """Print a remark."""
        log("INFO", sentence)

    def step(self, what: str) -> None:
        """Show what is done now."""
        if self._line is not None:
            from rich.text import Text

            self._line.update(Text(what))

    @contextmanager
    def counting(self, what: str, total: int) -> Iterator[Callable[[int], None]]:
        """Show a bar while the block works."""
        if not sys.stderr.isatty():
            yield lambda done: None
            return
        from rich.console import Console
        from rich.progress import Progress

        with self._hidden(), Progress(console=Console(stderr=True), transient=True) as progress:
            task = progress.add_task(what, total=total)
            yield lambda done: progress.update(task, completed=done)

    def keeping(self, what: str) -> AbstractContextManager[None]:
        """Print `what` if the program is ended in the block."""
        from hexsim.cli._stopping import keeping

        return keeping(what)

    @contextmanager
    def status(self) -> Iterator[None]:
        """Show a line of progress while the block works."""
        if not sys.stderr.isatty():
            yield
            return
        from rich.console import Console

        with Console(stderr=True).status("starting") as self._line:
            try:
                yield
            finally:
                self._line = None

    def print_above(self, text: str) -> None:
        """Print a part of the report while the line of progress is hidden."""
        with self._hidden():
            report_progress(text)

    @contextmanager
    def _hidden(self) -> Iterator[None]:
        """Hide the line of progress in the block."""
        line, self._line = self._line, None
        if line is not None:
            line.stop()
        yield
        if line is not None:
            line.start()
        self._line = line


TERMINAL = Terminal()
"""What hears the functions that a command calls."""
