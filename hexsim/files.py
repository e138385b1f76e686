"""Writes files whole or not at all."""

from __future__ import annotations

import os
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import BinaryIO

from hexsim.errors import HexsimError


def require_folder(path: Path) -> None:
    """Raise HexsimError unless `path` can be made: asked before long work, not after it."""
    _require_file(path)
    if not path.parent.is_dir() or not os.access(path.parent, os.W_OK):
        raise HexsimError(f"cannot write '{path}': no such folder, or it is not writable")


@contextmanager
def replacing(path: Path) -> Iterator[BinaryIO]:
    """Yield a temporary file beside `path` that takes its place when the block ends.

    If the block raises, `path` stays as it was and nothing is left behind. Raises HexsimError if
    the folder does not exist or cannot be written, or if `path` is a device, a pipe or a folder,
    which a file must not displace.
    """
    _require_file(path)
    try:
        handle, temporary = tempfile.mkstemp(dir=path.parent, prefix=f".{path.name}.")
    except OSError as error:
        raise _unwritable(path, error) from None
    try:
        with os.fdopen(handle, "w+b") as file:
            yield file
        os.chmod(temporary, 0o644)
        os.replace(temporary, path)
    except BaseException as error:
        os.unlink(temporary)
        if isinstance(error, OSError):
            raise _unwritable(path, error) from None
        raise


def write_bytes(path: Path, data: bytes) -> None:
    """Write `data` to `path`; errors as those of `replacing`."""
    with replacing(path) as file:
        file.write(data)


def write_text(path: Path, text: str) -> None:
    """Write `text` (UTF-8) to `path`; errors as those of `replacing`."""
    write_bytes(path, text.encode("utf-8"))


def _require_file(path: Path) -> None:
    if path.is_dir():
        raise HexsimError(f"cannot write '{path}': it is a folder")
    if path.exists() and not path.is_file():
        raise HexsimError(f"cannot write '{path}': it is no ordinary file; name another one")


def _unwritable(path: Path, error: OSError) -> HexsimError:
    return HexsimError(f"cannot write '{path}': {error.strerror}")
