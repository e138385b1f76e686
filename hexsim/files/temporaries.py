"""Temporary files, whose names identify their process so that abandoned files can be removed.

A name contains the boot of the machine, the process, and the start time of that process. A file
whose process has ended was left by a kill, and the next write into that folder removes it. Files of
processes on other machines, on a shared disk, are removed when they are old. Only files of the same
user are removed.
"""

import hashlib
import os
import platform
import re
import secrets
import shutil
import stat
import threading
import time
from contextlib import suppress
from functools import cache
from pathlib import Path

_NAME = re.compile(r"\.hexsim-([0-9a-f]{8})-(\d+)-(\d+)-[0-9a-f]{8}\.tmp")

OLD_S = 7 * 24 * 3600
"""Seconds after which a file of a process on another machine counts as abandoned."""

lock = threading.RLock()
"""Locked during renames, and by `abandon` for ever; the end of the program waits for it."""

_live: set[Path] = set()


def create(folder: Path, mode: int) -> tuple[int, Path]:
    """Make a temporary file in `folder`, open for reading and writing: its handle and path.

    The user's umask is removed from `mode`. Raises OSError.
    """
    flags = os.O_RDWR | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC
    with lock:
        path = name_in(folder)
        handle = os.open(path, flags, mode)
        _live.add(path)
    return handle, path


def create_folder(folder: Path) -> Path:
    """Make a temporary folder in `folder` that only the user may read. Raises OSError."""
    with lock:
        path = name_in(folder)
        path.mkdir(mode=0o700)
        _live.add(path)
    return path


def name_in(folder: Path) -> Path:
    """Return an unused name of this process; no file is made."""
    start = _start_of(os.getpid())
    parts = f"{_machine()}-{os.getpid()}-{start}-{secrets.token_hex(4)}"
    return Path(os.path.abspath(folder)) / f".hexsim-{parts}.tmp"


def placed(path: Path) -> None:
    """Stop tracking a file that has been renamed."""
    _live.discard(path)


def remove(path: Path) -> None:
    """Remove a file or folder, if possible."""
    with lock:
        _unlink(path)
        _live.discard(path)


def abandon() -> None:
    """Remove all temporary files of this process, which is about to end and makes no more.

    A thread that is renaming files finishes first.
    """
    lock.acquire(timeout=60)
    for path in tuple(_live):
        _unlink(path)


def clean(folder: Path) -> None:
    """Remove files in `folder` that were left by processes that have ended."""
    try:
        with os.scandir(folder) as entries:
            temporary_entries = [entry for entry in entries if _NAME.fullmatch(entry.name)]
    except OSError:
        return
    for entry in temporary_entries:
        with suppress(OSError):
            if _is_left_over(entry.name, entry.stat(follow_symlinks=False)):
                _unlink(Path(entry.path))


def _is_left_over(name: str, status: os.stat_result) -> bool:
    match = _NAME.fullmatch(name)
    if match is None or status.st_uid != os.geteuid():
        return False
    machine, pid, start = match.groups()
    if machine != _machine():
        return time.time() - status.st_mtime > OLD_S
    return not _is_alive(int(pid), int(start))


def _is_alive(pid: int, start: int) -> bool:
    """Return whether the process that began at `start` is alive, or may be."""
    try:
        os.kill(pid, 0)
    except (ProcessLookupError, OverflowError):
        return False
    except OSError:  # it is there, and another user's
        pass
    began = _start_of(pid)
    return began in (start, 0)


def _start_of(pid: int) -> int:
    """Return the start of a process, in ticks since boot; 0 if it is unknown."""
    try:
        text = Path(f"/proc/{pid}/stat").read_text("ascii", "replace")
        return int(text.rpartition(")")[2].split()[19])
    except (OSError, ValueError, IndexError):
        return 0


@cache
def _machine() -> str:
    """Return eight characters that identify this boot of the machine and its process namespace."""
    try:
        identity = Path("/proc/sys/kernel/random/boot_id").read_text() + os.readlink(
            "/proc/self/ns/pid"
        )
    except OSError:
        identity = platform.node()
    return hashlib.sha256(identity.encode()).hexdigest()[:8]


def _unlink(path: Path) -> None:
    with suppress(OSError):
        if stat.S_ISDIR(path.lstat().st_mode):
            shutil.rmtree(path, ignore_errors=True)
        else:
            path.unlink()
