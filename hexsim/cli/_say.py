"""Prints reports on stdout and remarks on stderr, without control characters of the terminal."""

from __future__ import annotations

import shlex
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar

from hexsim.texts.names import visible

_WORDING: ContextVar[Callable[[str], str]] = ContextVar("wording", default=str)
"""Rewrites the names of options in remarks, which SNPE's tools spell differently."""


@contextmanager
def reworded(wording: Callable[[str], str]) -> Iterator[None]:
    """Pass remarks through `wording` inside the block."""
    token = _WORDING.set(wording)
    try:
        yield
    finally:
        _WORDING.reset(token)


def is_reworded() -> bool:
    """Return whether remarks are those of a tool of SNPE's, whose log they then resemble."""
    return _WORDING.get() is not str


def say(text: str) -> None:
    """Print a report or a part of it."""
    print(_shown(text))


def report_progress(text: str) -> None:
    """Print a line of a report at once, also into a pipe or file, as later lines take long."""
    print(_shown(text), flush=True)


def remark(text: str) -> None:
    """Print a line on stderr, outside the report."""
    print(_shown(_WORDING.get()(text)), file=sys.stderr)


def _shown(text: str) -> str:
    """Return text with unprintable characters as escapes, except line breaks."""
    return "\n".join(map(visible, text.split("\n")))


def command_line() -> str:
    """Return the command as it was typed, for a report that is read elsewhere."""
    return shlex.join(["hexsim", *sys.argv[1:]])
