"""How wide the reports of a command may be: as the terminal is, or as they need with --wide.

What goes into a file or a pipe is never made narrower, unless COLUMNS says how wide it may be.
"""

from __future__ import annotations

import functools
import inspect
import shutil
from collections.abc import Callable
from contextlib import AbstractContextManager
from typing import Annotated, Any

import typer

from hexsim.reports.fitting import page

_WIDE = inspect.Parameter(
    "wide",
    inspect.Parameter.KEYWORD_ONLY,
    default=False,
    annotation=Annotated[
        bool, typer.Option("--wide", help="Show all columns, however wide the terminal is.")
    ],
)


def window() -> AbstractContextManager[None]:
    """Let reports be as wide as the terminal, if they are printed on one."""
    return page(shutil.get_terminal_size((0, 0)).columns or None)


def paged(command: Callable[..., None]) -> Callable[..., None]:
    """Return `command` with the option --wide."""
    signature = inspect.signature(command)

    @functools.wraps(command)
    def with_page(*, wide: bool = False, **given: Any) -> None:
        if not wide:
            command(**given)
            return
        with page(None):
            command(**given)

    parameters = [*signature.parameters.values(), _WIDE]
    with_page.__signature__ = inspect.Signature(  # type: ignore[attr-defined]
        [parameter.replace(kind=parameter.KEYWORD_ONLY) for parameter in parameters]
    )
    with_page.__annotations__ = {**command.__annotations__, _WIDE.name: _WIDE.annotation}
    return with_page
