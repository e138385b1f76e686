"""Checks paths before they are used: outputs can be written, inputs are ordinary files.

Pipes, sockets and devices are refused before they are opened, since opening may wait for ever. So
`/dev/stdin` is accepted only if it is a file (`< list.txt`). Folders are not checked here: the
reader gives a more specific message.
"""

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
