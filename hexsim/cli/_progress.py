"""Tells a person at a terminal what is going on; silent when stderr is piped."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager


@contextmanager
def status() -> Iterator[Callable[[str], None]]:
    """Yield a function that shows one line of progress on stderr, replaced by the next."""
    if not sys.stderr.isatty():
        yield lambda what: None
        return
    from rich.console import Console
    from rich.text import Text

    with Console(stderr=True).status("starting") as line:
        yield lambda what: line.update(Text(what))


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
