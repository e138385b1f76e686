"""The command line: one file per command, heavy imports inside the commands."""

import sys


def main() -> None:
    """Run the program as it was called; it ends with SystemExit."""
    start("hexsim", sys.argv[1:])


def start(name: str, words: list[str]) -> None:
    """Run the program called `name` with the words behind it; it ends with SystemExit.

    `hexsim` has all commands; any other name is that of an SNPE tool.
    """
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

            run_program(name, words)
    except KeyboardInterrupt:  # from the first moments, or a thread of somebody else's
        _end(name, 130, "interrupted")
    except (ImportError, OSError) as error:
        remedy = "; allow more (ulimit -n)" if "Too many open files" in str(error) else ""
        _end(name, 2, f"cannot start: {error}{remedy}")
    except MemoryError:
        _end(name, 2, "cannot start: there is not enough memory")


def _end(name: str, code: int, said: str) -> None:
    sys.stderr.write(f"{name}: {said}\n")
    sys.exit(code)
