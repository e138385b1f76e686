"""Prints reports on stdout and remarks on stderr, without control characters of the terminal."""

import re
import shlex
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass, field

from hexsim.reports.fitting import wrapped
from hexsim.texts.names import visible

_LEVELS: ContextVar[bool] = ContextVar("levels", default=False)
"""Whether remarks have the levels of a log, as those of SNPE's tools."""

_LEVEL = re.compile(r"^(?:\[(?:INFO|WARNING)\] |(?:INFO|WARNING) - )")
"""The level with which a line of SNPE's log begins."""


@dataclass(frozen=True)
class Collected:
    """What a command reports that a Python function runs: nothing is printed or written.

    `call` is the call of the function, which pages show in place of a command line; `files` makes
    the files that the command can write, by their options.
    """

    call: str
    printed: list[str] = field(default_factory=list)
    remarks: list[str] = field(default_factory=list)
    files: dict[str, Callable[[], str | bytes]] = field(default_factory=dict)

    def made(self, kind: str) -> str | bytes:
        """Return the content of a file."""
        with collecting(self):
            return self.files[kind]()


_COLLECTED: ContextVar[Collected | None] = ContextVar("collected", default=None)
collected = _COLLECTED.get
"""Returns what is being collected; None where a command prints and writes."""


@contextmanager
def collecting(report: Collected) -> Iterator[None]:
    """Collect inside the block what commands print and can write."""
    token = _COLLECTED.set(report)
    try:
        yield
    finally:
        _COLLECTED.reset(token)


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
    if report := collected():
        report.printed.append(_fitted(text))
    else:
        print(_fitted(text), flush=flush)


def _fitted(text: str) -> str:
    return "\n".join(map(wrapped, _shown(text).split("\n")))


def remark(text: str) -> None:
    """Print a line on stderr, outside the report; levels of a log are for SNPE's tools."""
    line = _shown(text if is_logged() else _LEVEL.sub(_plain, text))
    if report := collected():
        report.remarks.append(line)
    else:
        print(line, file=sys.stderr)


def _plain(level: re.Match[str]) -> str:
    return "warning: " if "WARNING" in level[0] else ""


def _shown(text: str) -> str:
    """Return text with unprintable characters as escapes, except line breaks."""
    return "\n".join(map(visible, text.split("\n")))


def command_line() -> str:
    """Return the command as it was typed, for a report that is read elsewhere."""
    if report := collected():
        return report.call
    return shlex.join(["hexsim", *sys.argv[1:]])
