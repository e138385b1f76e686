"""Inputs are ordinary files: what is read comes to an end, has a size, and can be read again.

A pipe, a socket and a device are refused before they are opened, since opening may wait for ever.
So `/dev/stdin` is taken only where it is a file (`< list.txt`). Folders are left to the reader, who
knows what else was meant.
"""

from __future__ import annotations

import os
import stat
from pathlib import Path

from hexsim.errors import HexsimError

_KINDS = {
    stat.S_IFIFO: "a pipe",
    stat.S_IFSOCK: "a socket",
    stat.S_IFCHR: "a device",
    stat.S_IFBLK: "a device",
}


def is_there(path: str | Path) -> bool:
    """True if there is something at `path`.

    Raises HexsimError where the system does not tell: a folder that may not be searched, a name
    that no file can have.
    """
    try:
        os.stat(path)
    except (FileNotFoundError, NotADirectoryError):
        return False
    except OSError as error:
        raise HexsimError(f"cannot read '{path}': {error.strerror}") from None
    except ValueError:  # a NUL in the name
        raise HexsimError(f"cannot read '{path}': no file has such a name") from None
    return True


def require_ordinary(path: str | Path) -> None:
    """Raise HexsimError if there is something at `path` that is neither file nor folder.

    What is not there or cannot be looked at passes: whoever opens it says so.
    """
    try:
        mode = os.stat(path).st_mode
    except (OSError, ValueError):  # ValueError: a NUL in the name
        return
    kind = _KINDS.get(stat.S_IFMT(mode))
    if kind is not None:
        raise HexsimError(
            f"'{path}' is {kind}, no ordinary file; save what it holds in a file, and give that"
        )
