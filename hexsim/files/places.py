"""Checks whether a path can be written, and whether two names mean the same file."""

import errno
import os
import stat
from pathlib import Path

from hexsim.errors import HexsimError
from hexsim.files import temporaries

Identity = tuple[int, int] | str
"""Device and inode of an existing file, or the path without links of a missing one."""


def identity(path: str | Path) -> Identity:
    """Return an identity that is equal for all names of the same file."""
    try:
        real = os.path.realpath(path)
        status = os.stat(real)
    except OSError:
        return real
    except ValueError:  # a NUL, which no name has
        return str(path)
    return status.st_dev, status.st_ino


def same_but_for_case(first: str, second: str) -> bool:
    """Return whether two names of missing files are the same in a folder that ignores case."""
    if first.casefold() != second.casefold():
        return False
    return first == second or _ignores_case(nearest_folder(Path(first)))


def nearest_folder(path: Path) -> Path:
    """Return the deepest existing path above `path`, which may be a file."""
    for folder in path.parents:
        if os.path.lexists(folder):
            return folder
    return Path(os.path.abspath(os.sep))


def require_place(path: Path, *, parents: bool = False) -> None:
    """Raise HexsimError unless `path` can be written; called before long work.

    With `parents`, folders above it may be missing. Folders, devices, pipes, sockets and read-only
    files are refused.
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
    """Raise HexsimError unless `path` is a writable folder, or one can be made there."""
    real = Path(os.path.realpath(path))
    existing = nearest_folder(real / "file")
    if not os.path.isdir(existing):
        raise HexsimError(f"cannot make folder '{path}': {os.strerror(errno.ENOTDIR)}")
    if not os.access(existing, os.W_OK | os.X_OK):
        raise HexsimError(f"cannot write into folder '{path}': {os.strerror(errno.EACCES)}")


def unwritable(path: Path, error: OSError) -> HexsimError:
    """Return the error that `path` cannot be written, with its reason."""
    return HexsimError(f"cannot write '{path}': {error.strerror or error}")


def _require_file(path: Path, target: Path, folder: Path) -> None:
    """Raise HexsimError if there is something that is no file, or must not be replaced."""
    try:
        status = target.stat()
    except (FileNotFoundError, NotADirectoryError):
        return
    if stat.S_ISDIR(status.st_mode):
        raise HexsimError(f"cannot write '{path}': it is a folder; name a file in it")
    if not stat.S_ISREG(status.st_mode):
        raise HexsimError(f"cannot write '{path}': it is no ordinary file; name another one")
    if not os.access(target, os.W_OK):
        raise HexsimError(f"cannot write '{path}': it is read-only for you; name another one")
    above, user = folder.stat(), os.geteuid()
    if above.st_mode & stat.S_ISVTX and user not in (0, above.st_uid, status.st_uid):
        raise HexsimError(f"cannot write '{path}': it is another user's; name another one")


def _ignores_case(folder: Path) -> bool:
    """Test whether names in `folder` ignore case."""
    try:
        handle, path = temporaries.create(folder, 0o600)
    except OSError:
        return False
    os.close(handle)
    try:
        return os.path.lexists(path.with_name(path.name.upper()))
    finally:
        temporaries.remove(path)
