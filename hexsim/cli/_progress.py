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

    with Console(stderr=True).status("starting") as line:
        yield lambda what: line.update(what)
