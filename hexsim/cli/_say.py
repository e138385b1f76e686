"""What a command says: a report on stdout, remarks on stderr, nothing that acts on a terminal."""

from __future__ import annotations

import shlex
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar

from hexsim.texts.names import visible

_WORDING: ContextVar[Callable[[str], str]] = ContextVar("wording", default=str)
"""How remarks name options, which tools of another family spell in their own way."""


@contextmanager
def reworded(wording: Callable[[str], str]) -> Iterator[None]:
    """Pass remarks through `wording` for a while."""
    token = _WORDING.set(wording)
    try:
        yield
    finally:
        _WORDING.reset(token)


def say(text: str) -> None:
    """Print a report, or a part of one."""
    print(_shown(text))


def report_progress(text: str) -> None:
    """Print a line of a report that others follow much later, also into a pipe or file."""
    print(_shown(text), flush=True)


def remark(text: str) -> None:
    """Print a line beside the report."""
    print(_shown(_WORDING.get()(text)), file=sys.stderr)


def _shown(text: str) -> str:
    """Lines stay; what else is not printed in them is written out (a file's name can hold it)."""
    return "\n".join(map(visible, text.split("\n")))


def command_line() -> str:
    """Return the command as it was typed, for a report that is read elsewhere."""
    return shlex.join(["hexsim", *sys.argv[1:]])
