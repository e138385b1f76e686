"""A file as text: UTF-8, with or without a byte order mark, and no larger than a text is."""

from __future__ import annotations

import re
import stat
from collections.abc import Iterator
from pathlib import Path

from hexsim.errors import InvalidDataError

MOST_BYTES = 1 << 28
"""A text of 256 MiB is none that somebody wrote."""

_BREAK = re.compile(r"\r\n|\r|\n")


def read_text(path: Path, what: str, remedy: str) -> str:
    """Return the text in `path`, which messages call `what`, as in "label file".

    Raises InvalidDataError, saying what is wrong and for what is no text the `remedy`.
    """
    where = f"{what} '{path}'"
    try:
        fault = _no_text(path)
        data = b"" if fault else path.read_bytes()
    except (OSError, ValueError) as error:  # the latter for names that no file can have
        reason = error.strerror if isinstance(error, OSError) else None
        raise InvalidDataError(
            f"cannot read {where}: {reason or 'no file has such a name'}"
        ) from None
    if fault:
        raise InvalidDataError(f"cannot read {where}: {fault}; {remedy}")
    return decoded(data, where, f"; {remedy}")


def _no_text(path: Path) -> str | None:
    """Say what is at `path`, if that is no file of a text's size."""
    status = path.stat()
    if stat.S_ISDIR(status.st_mode):
        return "it is a folder"
    if not stat.S_ISREG(status.st_mode):
        return "it is a pipe or a device, no ordinary file"
    if status.st_size > MOST_BYTES:
        return f"it has {status.st_size} bytes, too many for a text"
    return None


def decoded(data: bytes, where: str, remedy: str = "") -> str:
    """Return UTF-8 `data` as text; InvalidDataError naming the line, and ending in `remedy`."""
    try:
        text = data.decode("utf-8-sig")
        at = text.find("\0")
    except UnicodeDecodeError as error:
        line = data.count(b"\n", 0, error.start) + 1
        raise InvalidDataError(f"{where} is no text in UTF-8 (line {line}){remedy}") from None
    if at >= 0:
        line = text.count("\n", 0, at) + 1
        raise InvalidDataError(f"{where} is no text (line {line} holds a NUL){remedy}")
    return text


def lines(text: str) -> Iterator[tuple[int, str]]:
    """Number and text, without blanks around it, of each line that is not blank."""
    for number, line in enumerate(_BREAK.split(text), start=1):
        if line.strip():
            yield number, line.strip()


def shortened(text: str, most: int = 40) -> str:
    """Return `text`, or its beginning if it is longer than a message should be."""
    return text if len(text) <= most else f"{text[: most - 3]}..."
