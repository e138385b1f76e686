"""Places: whether a file can be written there, and when two names mean the same file."""

from __future__ import annotations

import errno
import os
import stat
from pathlib import Path

from hexsim.errors import HexsimError
from hexsim.files import temporaries

Identity = tuple[int, int] | str
"""Device and inode of what is there, whatever its name; of what is not, the name without links."""


def identity(path: str | Path) -> Identity:
    """Return what two names have in common if they mean one file."""
    try:
        real = os.path.realpath(path)
        status = os.stat(real)
    except OSError:
        return real
    except ValueError:  # a NUL, which no name has
        return str(path)
    return status.st_dev, status.st_ino


def same_but_for_case(one: str, other: str) -> bool:
    """True if two names of files that are not there differ in a way that their folder ignores."""
    if one.casefold() != other.casefold():
        return False
    return one == other or _ignores_case(nearest_folder(Path(one)))


def nearest_folder(path: Path) -> Path:
    """Return the deepest folder above `path` that is there; maybe it is none but a file."""
    for folder in path.parents:
        if os.path.lexists(folder):
            return folder
    return Path(os.path.abspath(os.sep))


def require_place(path: Path, *, parents: bool = False) -> None:
    """Raise HexsimError unless `path` can be written: asked before long work, not after it.

    With `parents`, folders above it may be missing. A folder, a device, a pipe, a socket and a file
    that is read-only are left alone.
    """
    target = Path(os.path.realpath(path))
    folder = nearest_folder(target) if parents else target.parent
    try:
        _require_file(path, target, folder)
    except OSError as error:
        raise unwritable(path, error) from None
    if parents:
        require_folder(path.parent)
    elif not os.path.isdir(folder) or not os.access(folder, os.W_OK | os.X_OK):
        raise HexsimError(f"cannot write '{path}': no such folder, or it is not writable")


def require_folder(path: Path) -> None:
    """Raise HexsimError unless `path` is a folder that can be written, or can be made one."""
    real = Path(os.path.realpath(path))
    found = nearest_folder(real / "file")
    if not os.path.isdir(found):
        raise HexsimError(f"cannot make folder '{path}': {os.strerror(errno.ENOTDIR)}")
    if not os.access(found, os.W_OK | os.X_OK):
        raise HexsimError(f"cannot write into folder '{path}': {os.strerror(errno.EACCES)}")


def unwritable(path: Path, error: OSError) -> HexsimError:
    """Say that `path` cannot be written, and why."""
    return HexsimError(f"cannot write '{path}': {error.strerror or error}")


def _require_file(path: Path, target: Path, folder: Path) -> None:
    """Raise if what is there is no file, or one that may not be replaced."""
    try:
        status = target.stat()
    except (FileNotFoundError, NotADirectoryError):
        return
    if stat.S_ISDIR(status.st_mode):
        raise HexsimError(f"cannot write '{path}': it is a folder")
    if not stat.S_ISREG(status.st_mode):
        raise HexsimError(f"cannot write '{path}': it is no ordinary file; name another one")
    if not os.access(target, os.W_OK):
        raise HexsimError(f"cannot write '{path}': it is read-only for you; name another one")
    above, user = folder.stat(), os.geteuid()
    if above.st_mode & stat.S_ISVTX and user not in (0, above.st_uid, status.st_uid):
        raise HexsimError(f"cannot write '{path}': it is another user's; name another one")


def _ignores_case(folder: Path) -> bool:
    """Find out whether names in `folder` may be written in either case."""
    try:
        handle, path = temporaries.create(folder, 0o600)
    except OSError:
        return False
    os.close(handle)
    try:
        return os.path.lexists(path.with_name(path.name.upper()))
    finally:
        temporaries.remove(path)
