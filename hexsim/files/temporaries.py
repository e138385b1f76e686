"""Temporary files: their names tell whose they are, so that what is left over can be told.

A name holds the machine since it was started, the process, and when that process began. A file
whose process is gone was left by a kill and is removed by whoever writes into that folder next. Of
another machine's process, on a shared disk, nothing is known: its files go when they are old. Only
files of the same user are ever touched.
"""

from __future__ import annotations

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
"""Seconds after which a file of another machine's process is taken for left over."""

held = threading.RLock()
"""Held while files change places, and by `abandon` for good: what ends the program waits for it."""

_live: set[Path] = set()


def create(folder: Path, mode: int) -> tuple[int, Path]:
    """Make a temporary file in `folder`, open for reading and writing: its handle and path.

    The user's umask is taken off `mode`. Raises OSError.
    """
    flags = os.O_RDWR | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC
    with held:
        path = name_in(folder)
        handle = os.open(path, flags, mode)
        _live.add(path)
    return handle, path


def create_folder(folder: Path) -> Path:
    """Make a temporary folder in `folder` that nobody else may look into. Raises OSError."""
    with held:
        path = name_in(folder)
        path.mkdir(mode=0o700)
        _live.add(path)
    return path


def name_in(folder: Path) -> Path:
    """Return a name of this process that is not taken; nothing is made."""
    start = _start_of(os.getpid())
    words = f"{_machine()}-{os.getpid()}-{start}-{secrets.token_hex(4)}"
    return Path(os.path.abspath(folder)) / f".hexsim-{words}.tmp"


def placed(path: Path) -> None:
    """Forget a file that has another name now."""
    _live.discard(path)


def remove(path: Path) -> None:
    """Remove a file or folder, if it is there and can be."""
    with held:
        _unlink(path)
        _live.discard(path)


def abandon() -> None:
    """Remove all that this process has; it makes no more, for it is about to end.

    A thread that is just giving files their places finishes that first.
    """
    held.acquire(timeout=60)
    for path in tuple(_live):
        _unlink(path)


def clean(folder: Path) -> None:
    """Remove what processes that are gone have left in `folder`."""
    try:
        with os.scandir(folder) as entries:
            found = [entry for entry in entries if _NAME.fullmatch(entry.name)]
    except OSError:
        return
    for entry in found:
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
    """True if the process that began at `start` lives on, or if that cannot be known."""
    try:
        os.kill(pid, 0)
    except (ProcessLookupError, OverflowError):
        return False
    except OSError:  # it is there, and another user's
        pass
    began = _start_of(pid)
    return began in (start, 0)


def _start_of(pid: int) -> int:
    """When a process began, in ticks since the machine did; 0 if that is not told."""
    try:
        text = Path(f"/proc/{pid}/stat").read_text("ascii", "replace")
        return int(text.rpartition(")")[2].split()[19])
    except (OSError, ValueError, IndexError):
        return 0


@cache
def _machine() -> str:
    """Eight letters for what gives processes their numbers: this machine, since it was started."""
    try:
        words = Path("/proc/sys/kernel/random/boot_id").read_text() + os.readlink(
            "/proc/self/ns/pid"
        )
    except OSError:
        words = platform.node()
    return hashlib.sha256(words.encode()).hexdigest()[:8]


def _unlink(path: Path) -> None:
    with suppress(OSError):
        if stat.S_ISDIR(path.lstat().st_mode):
            shutil.rmtree(path, ignore_errors=True)
        else:
            path.unlink()
