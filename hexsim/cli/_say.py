"""Prints reports on stdout and remarks on stderr, without control characters of the terminal."""

import re
import shlex
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar

from hexsim.reports.text import wrapped
from hexsim.texts.text import visible

_LEVELS: ContextVar[bool] = ContextVar("levels", default=False)
"""Whether remarks have the levels of a log, as those of SNPE's tools."""

_LEVEL = re.compile(r"^(?:\[(?:INFO|WARNING)\] |(?:INFO|WARNING) - )")
"""The level with which a line of SNPE's log begins."""


@contextmanager
def logged() -> Iterator[None]:
    """Let remarks inside the block have the levels of SNPE's log."""
    token = _LEVELS.set(True)
    try:
        yield
    finally:
        _LEVELS.reset(token)


is_logged = _LEVELS.get
"""Returns whether remarks are those of a tool of SNPE's, whose log they then resemble."""


def say(text: str) -> None:
    """Print a report or a part of it."""
    report_progress(text, flush=False)


def report_progress(text: str, *, flush: bool = True) -> None:
    """Print a line of a report at once, also into a pipe or file, as later lines take long."""
    print(_fitted(text), flush=flush)


def _fitted(text: str) -> str:
    return "\n".join(map(wrapped, _shown(text).split("\n")))


def remark(text: str) -> None:
    """Print a line on stderr, outside the report; levels of a log are for SNPE's tools."""
    line = _shown(text if is_logged() else _LEVEL.sub(_plain, text))
    print(line, file=sys.stderr)


def warning(sentence: str) -> None:
    """Print a warning on stderr."""
    remark(f"[WARNING] {sentence}")


def _plain(level: re.Match[str]) -> str:
    return "warning: " if "WARNING" in level[0] else ""


def _shown(text: str) -> str:
    """Return text with unprintable characters as escapes, except line breaks."""
    return "\n".join(map(visible, text.split("\n")))


def command_line() -> str:
    """Return the command as it was typed, for a report that is read elsewhere."""
    return shlex.join(["hexsim", *sys.argv[1:]])
