"""Writes report files whole or not at all."""

from __future__ import annotations

import os
import tempfile
from pathlib import Path

from hexsim.errors import HexsimError


def write_text(path: Path, text: str) -> None:
    """Write `text` (UTF-8) to `path` by way of a temporary file beside it.

    Raises HexsimError if the folder does not exist or cannot be written.
    """
    try:
        handle, temporary = tempfile.mkstemp(dir=path.parent, prefix=f".{path.name}.")
    except OSError as error:
        raise HexsimError(f"cannot write '{path}': {error.strerror}") from None
    try:
        with os.fdopen(handle, "w", encoding="utf-8", newline="") as file:
            file.write(text)
        os.chmod(temporary, 0o644)
        os.replace(temporary, path)
    except OSError as error:
        os.unlink(temporary)
        raise HexsimError(f"cannot write '{path}': {error.strerror}") from None
