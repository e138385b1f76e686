"""SNPE's API for programs (`hexsim.snpe.session`) and its tools, by their own names.

    from hexsim.snpe import Runtime, Session

Each tool is a file of `tools` with a table of options: their names, their values, and the options
of our command that replace them. `option` and `words` parse a command line by such a table, and
`tool` runs our command. The options --chip and --stack, which SNPE's tools do not have, or the
variables HEXSIM_CHIP and HEXSIM_STACK select the chip that a tool simulates.
"""

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
