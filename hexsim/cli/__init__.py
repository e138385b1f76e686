"""The command line: one file per command, heavy imports inside the commands."""

import sys


def main() -> None:
    """Run the program as it was called; it ends with SystemExit."""
    try:
        from hexsim.cli._system import open_what_was_closed, short_of_memory

        open_what_was_closed()
        if sentence := short_of_memory():
            _end(2, sentence)
        from hexsim.cli._stopping import stoppable

        with stoppable():  # before anything that takes long to import
            from hexsim.cli.app import run_program

            run_program()
    except KeyboardInterrupt:  # from the first moments, or a thread of somebody else's
        _end(130, "interrupted")
    except (ImportError, OSError) as error:
        _end(2, f"cannot start: {error}")
    except MemoryError:
        _end(2, "cannot start: there is not enough memory")


def _end(code: int, said: str) -> None:
    sys.stderr.write(f"hexsim: {said}\n")
    sys.exit(code)
