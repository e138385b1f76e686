"""Private folders for caches, which nobody but the user can write.

Cached compiled code is executed, so anybody who can write its folder can run anything as this user.
A folder is used only if it is the user's own, closed to all others (mode 0700), and no other user
can replace it: every folder above it belongs to the user or to root, and others may write it only
if it is sticky, as `/tmp` is. A group may write it if the user is its only member. Files of other
users in it are not read. If a condition fails there is no folder, and nothing is cached.

Left out: access control lists.
"""

import grp
import os
import pwd
import stat
import tempfile
from pathlib import Path

_OTHERS = stat.S_IRWXG | stat.S_IRWXO


def private_folder(name: str) -> Path | None:
    """Return the cache folder called `name`, which is made if missing; None if it is not safe.

    It lies in $HEXSIM_CACHE_DIR, else $XDG_CACHE_HOME/hexsim, else .cache/hexsim at home.
    """
    root = _root()
    if root is None:
        return None
    try:
        for ancestor in reversed([root, *root.parents]):
            if not ancestor.exists():
                ancestor.mkdir(mode=0o700, exist_ok=True)
        folder = Path(os.path.realpath(root)) / name
        folder.mkdir(mode=0o700, exist_ok=True)
        if not all(map(_is_safe, folder.parents)) or not _is_closed(folder):
            return None
        with tempfile.TemporaryFile(dir=folder):
            return folder
    except (OSError, ValueError):  # ValueError: a NUL in a variable
        return None


def is_own(folder: Path) -> bool:
    """Return whether `folder`, inside a private one, is missing or all in it belongs to the user.

    Symbolic links count as foreign, since they may lead elsewhere. Modes do not matter, since the
    private folder is closed to others.
    """
    try:
        status = folder.lstat()
        if status.st_uid != os.geteuid() or not stat.S_ISDIR(status.st_mode):
            return False
        for entry in os.scandir(folder):
            if entry.is_dir(follow_symlinks=False):
                if not is_own(Path(entry.path)):
                    return False
            elif not _is_own_file(entry.stat(follow_symlinks=False)):
                return False
    except FileNotFoundError:
        return True
    except OSError:
        return False
    return True


def _root() -> Path | None:
    """Return the folder of all caches; None without a home folder."""
    variable = os.environ.get("HEXSIM_CACHE_DIR")
    if variable:
        return Path(os.path.abspath(variable))
    cache_home = os.environ.get("XDG_CACHE_HOME", "")
    if os.path.isabs(cache_home):  # others are to be ignored, says the specification
        return Path(cache_home) / "hexsim"
    home = os.environ.get("HOME") or _home()
    return Path(home) / ".cache" / "hexsim" if os.path.isabs(home) else None


def _home() -> str:
    try:
        return pwd.getpwuid(os.getuid()).pw_dir
    except KeyError:
        return ""


def _is_closed(folder: Path) -> bool:
    """Return whether `folder` is the user's own; close it to others if it is open."""
    status = folder.lstat()
    if not stat.S_ISDIR(status.st_mode) or status.st_uid != os.geteuid():
        return False
    if status.st_mode & _OTHERS:
        folder.chmod(0o700)
    return True


def _is_safe(folder: Path) -> bool:
    """Return whether no other user can replace entries of `folder`."""
    status = folder.stat()
    if status.st_uid not in (0, os.geteuid()):
        return False
    return bool(status.st_mode & stat.S_ISVTX) or not _others_write(status)


def _is_own_file(status: os.stat_result) -> bool:
    return stat.S_ISREG(status.st_mode) and status.st_uid == os.geteuid()


def _others_write(status: os.stat_result) -> bool:
    if status.st_mode & stat.S_IWOTH:
        return True
    return bool(status.st_mode & stat.S_IWGRP) and not _is_group_of_one(status.st_gid)


def _is_group_of_one(gid: int) -> bool:
    """Return whether the group has the user's name and no other members."""
    try:
        group, user = grp.getgrgid(gid), pwd.getpwuid(os.geteuid())
    except KeyError:
        return False
    return (
        user.pw_gid == gid
        and group.gr_name == user.pw_name
        and not set(group.gr_mem) - {user.pw_name}
    )
