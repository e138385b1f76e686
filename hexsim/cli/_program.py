"""Runs a program and reports errors: one that the user can correct is a sentence and exit code 2.

Any other error is a fault of the program, which is reported as such with exit code 70.
"""

from hexsim.cli import Run
from hexsim.cli._say import remark
from hexsim.cli._streams import forgiving_streams
from hexsim.cli._system import of_the_system
from hexsim.errors import HexsimError
from hexsim.texts.names import visible


def run_program(name: str, words: list[str], run: Run) -> None:
    """Run the program called `name` by `run`; it ends with SystemExit."""
    with forgiving_streams():
        fault: Exception | None = None
        try:
            code, sentence = _ended(name, words, run)
        except Exception as error:
            from hexsim.cli import _own_faults  # its imports are for faults alone

            fault = error
            sentence, trace = _own_faults.described(error)
            code = _own_faults.EXIT_CODE
        if sentence is not None:
            remark(f"{name}: {visible(sentence)}")
        if fault is not None and trace:
            remark(trace)
    raise SystemExit(code) from fault


def _ended(name: str, words: list[str], run: Run) -> tuple[str | int | None, str | None]:
    """Run the program to its end; return its exit code, and a sentence if it failed."""
    try:
        run(name, words)
    except SystemExit as ended:
        return ended.code, None
    except HexsimError as error:
        return 2, str(error)
    except (MemoryError, ImportError, RuntimeError, OSError) as error:
        sentence = of_the_system(error)
        if sentence is None:
            raise
        return 2, sentence
    return 0, None
