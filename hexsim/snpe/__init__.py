"""SNPE by its own names: its API for programs (`hexsim.snpe.session`), and its tools.

    from hexsim.snpe import Runtime, Session

Each tool is a file of `tools` with a table: what its options are called, what follows them, and
what they become here. `option` and `words` read a command line by any such table, and `tool` runs
what comes out. Which chip a tool simulates is given by --chip and --stack, which SNPE's tools do
not have, or by HEXSIM_CHIP and HEXSIM_STACK.
"""

from __future__ import annotations

import importlib
import sys
from pathlib import PurePath

TYPE_CHECKING = False  # as in `hexsim`: the tools start without the modules of the API

if TYPE_CHECKING:
    from hexsim.snpe.session import (
        PerformanceProfile,
        ProfilingLevel,
        Runtime,
        Session,
        is_runtime_available,
    )

__all__ = ["PerformanceProfile", "ProfilingLevel", "Runtime", "Session", "is_runtime_available"]


def __dir__() -> list[str]:
    return __all__


def __getattr__(name: str) -> object:
    if name in __all__:
        return getattr(importlib.import_module("hexsim.snpe.session"), name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


def main() -> None:
    """Run the tool that this program is called as; it ends with SystemExit."""
    run(PurePath(sys.argv[0]).name.removesuffix(".exe"), sys.argv[1:])


def run(name: str, words: list[str]) -> None:
    """Run the tool called `name` with the words behind it; it ends with SystemExit."""
    from hexsim.cli import start

    start(name, words, _run_tool)


def _run_tool(name: str, words: list[str]) -> None:
    from hexsim.snpe.tool import run_tool

    run_tool(name, words)
