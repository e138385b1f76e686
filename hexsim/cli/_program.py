"""Runs a program: its output streams, and how it reports errors.

An error that the user can correct is a sentence and exit code 2. Any other error is a fault of the
program, which is reported as such with exit code 70.

The streams handle closed pipes, full disks and characters that cannot be encoded. If the reader of
a pipe ends (`hexsim ... | head`), later output is dropped and the command continues, because its
files are still needed and this is no error. A full disk is reported, except on the error stream,
where the message could not be read. A character that the encoding of the terminal lacks is written
as an escape.
"""

import io
import os
import sys
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from hexsim.cli import Run
from hexsim.cli._progress import TERMINAL
from hexsim.cli._say import remark
from hexsim.cli._system import of_the_system
from hexsim.errors import HexsimError, heard_by
from hexsim.texts.text import visible


class _Printed(io.RawIOBase):
    """A stream to a file descriptor, which stays open."""

    def __init__(self, descriptor: int, dropped: type[OSError]) -> None:
        self._descriptor = descriptor
        self._dropped = dropped
        self._is_over = False

    def writable(self) -> bool:
        return True

    def fileno(self) -> int:
        return self._descriptor

    def isatty(self) -> bool:
        return os.isatty(self._descriptor)

    def write(self, data: Any) -> int:
        """Write some bytes; after an error, drop all bytes."""
        if not self._is_over:
            try:
                return os.write(self._descriptor, data)
            except self._dropped:
                self._is_over = True
            except OSError:
                self._is_over = True  # the rest of the buffer must not fail again at the end
                raise
        return len(data)


@contextmanager
def forgiving_streams() -> Iterator[None]:
    """Use these streams inside the block, unless Python's own streams were replaced before."""
    before = sys.stdout, sys.stderr
    if isinstance(sys.stdout, io.TextIOWrapper) and sys.stdout is sys.__stdout__:
        sys.stdout = _stream(sys.stdout, BrokenPipeError)
    if isinstance(sys.stderr, io.TextIOWrapper) and sys.stderr is sys.__stderr__:
        sys.stderr = _stream(sys.stderr, OSError)
    try:
        yield
    finally:
        ours, sys.stdout, sys.stderr = (sys.stdout, sys.stderr), *before
        for stream, old in zip(ours, before, strict=True):
            if stream is not old:
                stream.flush()


def _stream(old: io.TextIOWrapper, dropped: type[OSError]) -> io.TextIOWrapper:
    old.flush()
    return io.TextIOWrapper(
        io.BufferedWriter(_Printed(old.fileno(), dropped)),
        encoding=old.encoding,
        errors="backslashreplace",
        line_buffering=old.isatty() or dropped is OSError,
    )


def run_program(name: str, words: list[str], run: Run) -> None:
    """Run the program called `name` by `run`; it ends with SystemExit."""
    with forgiving_streams(), warnings.catch_warnings(), heard_by(TERMINAL):
        warnings.simplefilter("ignore")  # those of libraries, which say nothing to a user
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
