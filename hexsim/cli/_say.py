"""Prints reports on stdout and remarks on stderr, without control characters of the terminal."""

from __future__ import annotations

import shlex
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from typing import TYPE_CHECKING, Literal

from hexsim.reports.text import wrapped
from hexsim.texts.text import visible

if TYPE_CHECKING:
    from hexsim.reports.quantizer_log import Level

LogFormat = Literal["[{level}] {text}", "{level} - {text}"]
_FORMAT: ContextVar[LogFormat | None] = ContextVar("format", default=None)
"""How lines of a log show their levels: those of SNPE's tools do, of its converters the second way.

Commands of hexsim only say which line is a warning or an error.
"""


@contextmanager
def logged(form: LogFormat) -> Iterator[None]:
    """Let the lines of a log inside the block be those of SNPE's tools."""
    token = _FORMAT.set(form)
    try:
        yield
    finally:
        _FORMAT.reset(token)


def say(text: str) -> None:
    """Print a report or a part of it."""
    report_progress(text, flush=False)


def report_progress(text: str, *, flush: bool = True) -> None:
    """Print a line of a report at once, also into a pipe or file, as later lines take long."""
    print(_fitted(text), flush=flush)


def _fitted(text: str) -> str:
    return "\n".join(map(wrapped, _shown(text).split("\n")))


def remark(text: str) -> None:
    """Print a line on stderr, outside the report."""
    print(_shown(text), file=sys.stderr)


def log(level: Level, text: str) -> None:
    """Print a line of a log on stderr, with its level in the way of the program in use."""
    plain = text if level == "INFO" else f"{level.lower()}: {text}"
    form = _FORMAT.get()
    remark(plain if form is None else form.format(level=level, text=text))


def _shown(text: str) -> str:
    """Return text with unprintable characters as escapes, except line breaks."""
    return "\n".join(map(visible, text.split("\n")))


def command_line() -> str:
    """Return the command as it was typed, for a report that is read elsewhere."""
    return shlex.join(["hexsim", *sys.argv[1:]])
