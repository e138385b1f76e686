"""Reads text files, and makes names from files safe to print: none acts on a terminal.

A name may contain anything. A line feed could forge a line of a report, an escape sequence could
control the terminal, a mark of direction could reverse text. So special characters in names become
visible when they are read, and code that prints names need not handle them.
"""

import io
import stat
from collections.abc import Iterator
from pathlib import Path

from hexsim.errors import InvalidTextError

MOST_BYTES = 1 << 28
"""The most bytes of a text file, 256 MiB."""
MOST_LINES, MOST_BYTES_OF_LINES = 1 << 20, 1 << 26
"""The most lines of a file in which each line says something, and the most bytes, 64 MiB. What is
kept of a line takes up to a kilobyte; ImageNet has 50 000 labels to validate with."""


def read_text(path: Path, what: str, remedy: str, *, by_line: bool = False) -> str:
    """Return the text in `path`, which messages call `what`, as in "label file".

    `by_line` is true where each line says something, so that their number is limited. Raises
    InvalidTextError with the fault, and for a file that is no text with the `remedy`.
    """
    where = f"{what} '{path}'"
    try:
        fault = _file_fault(path, MOST_BYTES_OF_LINES if by_line else MOST_BYTES)
        data = b"" if fault else path.read_bytes()
    except (OSError, ValueError) as error:  # the latter for names that no file can have
        reason = error.strerror if isinstance(error, OSError) else None
        raise InvalidTextError(
            f"cannot read {where}: {reason or 'no file has such a name'}"
        ) from None
    if fault:
        raise InvalidTextError(f"cannot read {where}: {fault}; {remedy}")
    count = data.count(b"\n") + data.count(b"\r") if by_line else 0
    if count > MOST_LINES:
        raise InvalidTextError(f"{where} has {count} lines, more than {MOST_LINES}; {remedy}")
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
    """Return UTF-8 `data` as text; InvalidTextError naming the line, and ending in `remedy`."""
    try:
        text = data.decode("utf-8-sig")
        position = text.find("\0")
    except UnicodeDecodeError as error:
        line = data.count(b"\n", 0, error.start) + 1
        raise InvalidTextError(f"{where} is no text in UTF-8 (line {line}){remedy}") from None
    if position >= 0:
        line = text.count("\n", 0, position) + 1
        raise InvalidTextError(f"{where} is no text (line {line} holds a NUL){remedy}")
    return text


def lines(text: str) -> Iterator[tuple[int, str]]:
    """Yield number and stripped text of each line that is not blank."""
    for number, line in enumerate(io.StringIO(text, newline=None), start=1):
        if line.strip():
            yield number, line.strip()


def shortened(text: str, most: int = 40) -> str:
    """Return `text`, or its beginning if it is longer than a message should be."""
    return text if len(text) <= most else f"{text[: most - 3]}..."


def visible(text: str) -> str:
    r"""Return `text` with every character that is not printable escaped: `a\x1b[2J`, `b\u202ec`.

    Letters, marks, digits, signs and the plain space of any script are printable (as by
    `str.isprintable`).
    """
    if text.isprintable():
        return text
    return "".join(letter if letter.isprintable() else _escaped(letter) for letter in text)


def new_name(names: set[str], wanted: str) -> str:
    """Return `wanted`, with a number if it is in `names`, and add it to `names`.

    Numbers are tried in doubling steps, since a file may want one name twenty thousand times. The
    result is the lowest free number if the taken ones have no gaps.
    """
    name, taken, free = wanted, 0, 1
    while name in names:
        name = f"{wanted}_{free}"
        taken, free = (free, 2 * free) if name in names else (taken, free)
    while free - taken > 1:
        middle = (taken + free) // 2
        is_taken = f"{wanted}_{middle}" in names
        taken, free = (middle, free) if is_taken else (taken, middle)
        name = f"{wanted}_{free}"
    names.add(name)
    return name


def _escaped(character: str) -> str:
    return character.encode("unicode_escape").decode("ascii")
