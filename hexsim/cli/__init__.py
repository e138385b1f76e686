"""The command line: one file per command, heavy imports inside the commands."""

import sys
from collections.abc import Callable

Run = Callable[[str, list[str]], None]
"""Runs a program, given its name and the words behind it."""


def main() -> None:
    """Run the program as it was called; it ends with SystemExit."""
    start("hexsim", sys.argv[1:], _run_command)


def start(name: str, words: list[str], run: Run) -> None:
    """Let `run` run the program called `name`; it ends with SystemExit."""
    if sys.platform != "linux":
        _end(name, 2, "hexsim runs on Linux; on Windows, use it inside WSL")
    try:
        from hexsim.cli._allocation import map_large_arrays
        from hexsim.cli._system import open_what_was_closed, short_of_memory

        open_what_was_closed()
        if sentence := short_of_memory():
            _end(name, 2, sentence)
        map_large_arrays()
        from hexsim.cli._stopping import stoppable

        with stoppable():  # before anything that takes long to import
            from hexsim.cli._program import run_program

            run_program(name, words, run)
    except KeyboardInterrupt:  # from the first moments, or a thread of somebody else's
        _end(name, 130, "interrupted")
    except (ImportError, OSError) as error:
        remedy = "; allow more (ulimit -n)" if "Too many open files" in str(error) else ""
        _end(name, 2, f"cannot start: {error}{remedy}")
    except MemoryError:
        _end(name, 2, "cannot start: there is not enough memory")


def _run_command(name: str, words: list[str]) -> None:
    from hexsim.cli._page import window
    from hexsim.cli.app import run_command

    with window():
        run_command(name, words)


def _end(name: str, code: int, said: str) -> None:
    sys.stderr.write(f"{name}: {said}\n")
    sys.exit(code)
