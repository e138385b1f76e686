"""What is printed, where the reader of a pipe may leave, a disk may be full, and names be odd.

When a reader leaves (`hexsim ... | head`), what follows is dropped and the command goes on to its
end: files it writes are wanted still, and nothing went wrong. A disk that is full is told, as for
any other output; on the error stream nobody could read that. A character that the terminal's
encoding lacks is written as an escape.
"""

from __future__ import annotations

import io
import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager


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

    def write(self, data) -> int:  # type: ignore[no-untyped-def]
        """Write some bytes; all of them, nowhere, when it is over."""
        if not self._is_over:
            try:
                return os.write(self._descriptor, data)
            except self._dropped:
                self._is_over = True
            except OSError:
                self._is_over = True  # what is left in a buffer must not fail again at the end
                raise
        return len(data)


@contextmanager
def forgiving_streams() -> Iterator[None]:
    """Print through such streams inside the block, unless somebody has replaced Python's own."""
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
