"""The command line, with one file per command; commands import large modules when they run."""

import os
import sys
from collections.abc import Callable

Run = Callable[[str, list[str]], None]
"""Runs a program, given its name and the words of its command line."""


def main() -> None:
    """Run the program with its command line; it ends with SystemExit."""
    start("hexsim", sys.argv[1:], _run_command)


def start(name: str, words: list[str], run: Run) -> None:
    """Run the program called `name` by `run`; it ends with SystemExit."""
    if sys.platform != "linux":
        _end(name, 2, "hexsim runs on Linux; on Windows, use it inside WSL")
    try:
        from hexsim.cli._system import (
            map_large_arrays,
            open_what_was_closed,
            seek_cycles_rarely,
            short_of_memory,
        )

        open_what_was_closed()
        if sentence := short_of_memory():
            _end(name, 2, sentence)
        map_large_arrays()
        seek_cycles_rarely()
        os.environ.setdefault("PYDANTIC_DISABLE_PLUGINS", "__all__")  # looking for them takes long
        from hexsim.cli._stopping import stoppable

        with stoppable():  # before imports that take long
            from hexsim.cli._program import run_program

            run_program(name, words, run)
    except KeyboardInterrupt:  # raised before `stoppable`, or by a thread of a library
        _end(name, 130, "interrupted")
    except (ImportError, OSError) as error:
        remedy = "; allow more (ulimit -n)" if "Too many open files" in str(error) else ""
        _end(name, 2, f"cannot start: {error}{remedy}")
    except MemoryError:
        _end(name, 2, "cannot start: there is not enough memory")


def _run_command(name: str, words: list[str]) -> None:
    from hexsim.cli._signature import window
    from hexsim.cli.app import run_command

    with window():
        run_command(name, words)


def _end(name: str, code: int, sentence: str) -> None:
    sys.stderr.write(f"{name}: {sentence}\n")
    sys.exit(code)
