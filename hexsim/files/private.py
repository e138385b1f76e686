"""Folders for what is kept between runs, which nobody but the user can write.

Compiled code is run as it is found, so whoever can write the folder it is kept in can run anything
as this user. A folder is used only if it is the user's own, closed to everybody else (mode 0700),
and lies where no other user can put another in its place: every folder above it belongs to the
user or to root, and others may write it only if it is sticky, as `/tmp` is. A group may if the user
is all of it. What another user has put into it is not read. If any of that fails there is no
folder, and nothing is kept.

Left out: access control lists.
"""

from __future__ import annotations

import grp
import os
import pwd
import stat
import tempfile
from pathlib import Path

_OTHERS = stat.S_IRWXG | stat.S_IRWXO


def private_folder(name: str) -> Path | None:
    """Return the folder called `name` for what is kept, made if need be; None if there can be none.

    It lies in $HEXSIM_CACHE_DIR, else $XDG_CACHE_HOME/hexsim, else .cache/hexsim at home.
    """
    root = _root()
    if root is None:
        return None
    try:
        for above in reversed([root, *root.parents]):
            if not above.exists():
                above.mkdir(mode=0o700, exist_ok=True)
        folder = Path(os.path.realpath(root)) / name
        folder.mkdir(mode=0o700, exist_ok=True)
        if not all(map(_is_safe, folder.parents)) or not _is_closed(folder):
            return None
        with tempfile.TemporaryFile(dir=folder):
            return folder
    except (OSError, ValueError):  # ValueError: a NUL in a variable
        return None


def is_own(folder: Path) -> bool:
    """True if `folder`, inside a private one, and all in it belong to the user; or it is not there.

    Symbolic links do not: they may lead elsewhere. Modes do not matter there, where nobody else
    gets to.
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
    """Where kept things are; None if there is no home."""
    own = os.environ.get("HEXSIM_CACHE_DIR")
    if own:
        return Path(os.path.abspath(own))
    shared = os.environ.get("XDG_CACHE_HOME", "")
    if os.path.isabs(shared):  # others are to be ignored, says the specification
        return Path(shared) / "hexsim"
    home = os.environ.get("HOME") or _home()
    return Path(home) / ".cache" / "hexsim" if os.path.isabs(home) else None


def _home() -> str:
    try:
        return pwd.getpwuid(os.getuid()).pw_dir
    except KeyError:
        return ""


def _is_closed(folder: Path) -> bool:
    """True if `folder` is the user's own; it is closed to others if it was open."""
    status = folder.lstat()
    if not stat.S_ISDIR(status.st_mode) or status.st_uid != os.geteuid():
        return False
    if status.st_mode & _OTHERS:
        folder.chmod(0o700)
    return True


def _is_safe(folder: Path) -> bool:
    """True if no other user can put something else in the place of what lies in `folder`."""
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
    """True for a group that is the user's alone: of the same name, and without further members."""
    try:
        group, user = grp.getgrgid(gid), pwd.getpwuid(os.geteuid())
    except KeyError:
        return False
    return (
        user.pw_gid == gid
        and group.gr_name == user.pw_name
        and not set(group.gr_mem) - {user.pw_name}
    )
