"""The width of a command's reports: that of the terminal, or unlimited with --wide.

Output to a file or a pipe is never narrowed, unless COLUMNS gives its width.
"""

import shutil
from collections.abc import Callable
from contextlib import AbstractContextManager
from typing import Annotated, Any

import typer

from hexsim.cli._signature import keyword, wraps
from hexsim.reports.fitting import page

_WIDE = Annotated[
    bool, typer.Option("--wide", help="Show all columns, however wide the terminal is.")
]


def window() -> AbstractContextManager[None]:
    """Let reports be as wide as the terminal, if they are printed on one."""
    return page(shutil.get_terminal_size((0, 0)).columns or None)


def paged(command: Callable[..., None]) -> Callable[..., None]:
    """Return `command` with the option --wide."""

    @wraps(command, added=[keyword("wide", _WIDE, default=False)])
    def with_page(*, wide: bool = False, **given: Any) -> None:
        if not wide:
            command(**given)
            return
        with page(None):
            command(**given)

    return with_page
