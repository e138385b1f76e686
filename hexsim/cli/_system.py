"""What the operating system gives: memory, files and streams, and a sentence if it refuses one.

Some libraries end the process themselves if memory is short. So a limit below their need is
reported at the start.

The C library returns the memory of each large array to the system when it is freed. A command that
makes the same arrays for every input keeps their memory instead, because the system clears every
new page, by one thread at a time. glibc returns an array at once if it mapped the array separately.
But with each such array that is freed, it raises the smallest size that it maps, up to 32 MB, and
smaller arrays lie in the heap between data that stays. It also keeps such a heap for each thread. A
fixed size and one heap lower the peak memory of a benchmark by a tenth. A smaller size would cost
time, since new pages are cleared.

Other C libraries, and programs that import hexsim, are not changed.
"""

import atexit
import ctypes
import errno
import gc
import io
import os
import resource
import sys

from hexsim.texts.text import shortened

_M_TRIM_THRESHOLD, _M_MMAP_THRESHOLD, _M_ARENA_MAX = -1, -3, -8
"""Numbers in glibc's malloc.h."""
_MAPPED_BYTES = 2 << 20
"""The largest of 1, 2, 4 and 8 MB with which little memory stays in the heap."""
_LARGEST_KEPT_BYTES, _KEPT_BYTES = 1 << 25, 1 << 30
"""Largest size of an array that glibc allows, and bytes that may be free at the heap's end."""
_OBJECTS_BETWEEN_SEARCHES = 200_000
"""New containers after which Python looks for cycles; by default it is 700."""


def seek_cycles_rarely() -> None:
    """Let Python look for unreachable cycles rarely, and not at its end.

    By default a short command spends a tenth of its time on the first and, as its modules are taken
    apart, a fifth on the second (measured). The peak memory does not show it. What the exit has to
    do, such as removing temporary folders, is done before.
    """
    gc.set_threshold(_OBJECTS_BETWEEN_SEARCHES)
    atexit.register(gc.freeze)


def map_large_arrays() -> None:
    """Let glibc, if that is the C library, map large arrays and share one heap among threads."""
    _set(_M_MMAP_THRESHOLD, _MAPPED_BYTES)
    _set(_M_ARENA_MAX, 1)


def keep_large_arrays() -> None:
    """Let glibc keep the memory of large arrays for the next ones.

    Validating 64 pictures with MobileNetV2 takes 0.8 of the time, with the same peak (measured).
    """
    _set(_M_MMAP_THRESHOLD, _LARGEST_KEPT_BYTES)
    _set(_M_TRIM_THRESHOLD, _KEPT_BYTES)


def _set(what: int, amount: int) -> None:
    mallopt = getattr(ctypes.CDLL(None), "mallopt", None)
    if mallopt is not None:
        mallopt(what, amount)


LEAST_BYTES = 1 << 30
"""Address space that every command needs; with less, some libraries hang instead of failing."""

_LONGEST_PATH = 1000
"""Most characters of a path that are shown; a file may name one of any length."""
_SHORT = "there is not enough memory; allow more (ulimit -v), or give smaller inputs"
_NO_THREAD = "no thread can be started; allow more threads (ulimit -u) or memory (ulimit -v)"
_NO_FILE = "too many files are open at once; allow more (ulimit -n)"
_NO_FILE_ERRORS = (errno.EMFILE, errno.ENFILE)


def short_of_memory() -> str | None:
    """Return a sentence if the limit on address space is too low to start."""
    limit, _ = resource.getrlimit(resource.RLIMIT_AS)
    if limit == resource.RLIM_INFINITY or limit >= LEAST_BYTES:
        return None
    return (
        f"the limit on memory is {limit >> 20} MB, and hexsim needs {LEAST_BYTES >> 20} MB at "
        "least; raise it (ulimit -v)"
    )


def open_what_was_closed() -> None:
    """Open closed standard streams (`>&-`), so that files opened later do not take their place."""
    while (descriptor := os.open(os.devnull, os.O_RDWR)) <= 2:
        os.set_inheritable(descriptor, True)
    os.close(descriptor)
    sys.stdout = sys.stdout or io.TextIOWrapper(io.FileIO(os.devnull, "w"), "utf-8")
    sys.stderr = sys.stderr or io.TextIOWrapper(io.FileIO(os.devnull, "w"), "utf-8")


def of_the_system(error: Exception) -> str | None:
    """Return what the system refused; None for a fault of the program itself."""
    lines = str(error).strip().splitlines() or [""]
    if isinstance(error, MemoryError) or "failed to map segment" in lines[-1]:
        return _SHORT
    if is_out_of_files(error):
        return _NO_FILE
    if isinstance(error, ImportError):
        return f"a part of the program cannot be loaded: {lines[-1]}; install hexsim again"
    if isinstance(error, RuntimeError):
        return _NO_THREAD if "can't start new thread" in lines[-1] else None
    return _refused(error, lines[0]) if isinstance(error, OSError) else None


def is_out_of_files(error: Exception) -> bool:
    """Return True if a file, or a library, cannot be opened because too many files are open."""
    if isinstance(error, OSError):
        return error.errno in _NO_FILE_ERRORS
    return isinstance(error, ImportError) and os.strerror(errno.EMFILE) in str(error)


def _refused(error: OSError, text: str) -> str:
    why = error.strerror or text
    if error.errno is None:
        return f"a part of the program cannot be loaded: {text}; allow more memory (ulimit -v)"
    if error.errno == errno.ENOMEM:
        return _SHORT
    if error.filename is not None:
        return f"'{shortened(os.fsdecode(error.filename), _LONGEST_PATH)}' cannot be used: {why}"
    if error.errno == errno.EAGAIN:
        return f"the system refuses more: {why}; raise its limits (ulimit -a)"
    return f"cannot print the report: {why}; send it elsewhere"
