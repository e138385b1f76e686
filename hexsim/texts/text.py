"""Reads text files: UTF-8, with or without a byte order mark, of limited size."""

import io
import stat
from collections.abc import Iterator
from pathlib import Path

from hexsim.errors import InvalidDataError

MOST_BYTES = 1 << 28
"""The most bytes of a text file, 256 MiB."""
MOST_LINES, MOST_BYTES_OF_LINES = 1 << 20, 1 << 26
"""The most lines of a file in which each line says something, and the most bytes, 64 MiB. What is
kept of a line takes up to a kilobyte; ImageNet has 50 000 labels to validate with."""


def read_text(path: Path, what: str, remedy: str, *, by_line: bool = False) -> str:
    """Return the text in `path`, which messages call `what`, as in "label file".

    `by_line` is true where each line says something, so that their number is limited. Raises
    InvalidDataError with the fault, and for a file that is no text with the `remedy`.
    """
    where = f"{what} '{path}'"
    try:
        fault = _file_fault(path, MOST_BYTES_OF_LINES if by_line else MOST_BYTES)
        data = b"" if fault else path.read_bytes()
    except (OSError, ValueError) as error:  # the latter for names that no file can have
        reason = error.strerror if isinstance(error, OSError) else None
        raise InvalidDataError(
            f"cannot read {where}: {reason or 'no file has such a name'}"
        ) from None
    if fault:
        raise InvalidDataError(f"cannot read {where}: {fault}; {remedy}")
    count = data.count(b"\n") + data.count(b"\r") if by_line else 0
    if count > MOST_LINES:
        raise InvalidDataError(f"{where} has {count} lines, more than {MOST_LINES}; {remedy}")
    return decoded(data, where, f"; {remedy}")


def _file_fault(path: Path, most_bytes: int) -> str | None:
    """Return the fault of `path` if it is no file of a text's size, else None."""
    status = path.stat()
    if stat.S_ISDIR(status.st_mode):
        return "it is a folder"
    if not stat.S_ISREG(status.st_mode):
        return "it is a pipe or a device, no ordinary file"
    if status.st_size > most_bytes:
        return f"it has {status.st_size} bytes, too many for a text"
    return None


def decoded(data: bytes, where: str, remedy: str = "") -> str:
    """Return UTF-8 `data` as text; InvalidDataError naming the line, and ending in `remedy`."""
    try:
        text = data.decode("utf-8-sig")
        position = text.find("\0")
    except UnicodeDecodeError as error:
        line = data.count(b"\n", 0, error.start) + 1
        raise InvalidDataError(f"{where} is no text in UTF-8 (line {line}){remedy}") from None
    if position >= 0:
        line = text.count("\n", 0, position) + 1
        raise InvalidDataError(f"{where} is no text (line {line} holds a NUL){remedy}")
    return text


def lines(text: str) -> Iterator[tuple[int, str]]:
    """Yield number and stripped text of each line that is not blank."""
    for number, line in enumerate(io.StringIO(text, newline=None), start=1):
        if line.strip():
            yield number, line.strip()


def shortened(text: str, most: int = 40) -> str:
    """Return `text`, or its beginning if it is longer than a message should be."""
    return text if len(text) <= most else f"{text[: most - 3]}..."
