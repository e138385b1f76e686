"""Checks that inputs are ordinary files, which have a size and can be read again.

Pipes, sockets and devices are refused before they are opened, since opening may wait for ever. So
`/dev/stdin` is accepted only if it is a file (`< list.txt`). Folders are not checked here: the
reader gives a more specific message.
"""

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
    """Return whether `path` exists.

    Raises HexsimError if the system cannot answer: for a folder that may not be searched, or a name
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
    """Raise HexsimError if `path` exists but is neither a file nor a folder.

    Missing and inaccessible paths pass; opening them gives the error.
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
