"""Makes the C library return the memory of each large array to the system when it is freed.

A command that makes the same arrays for every input keeps their memory instead, because the system
clears every new page, by one thread at a time.

glibc returns an array at once if it mapped the array separately. But with each such array that is
freed, it raises the smallest size that it maps, up to 32 MB, and smaller arrays lie in the heap
between data that stays. It also keeps such a heap for each thread. A fixed size and one heap lower
the peak memory of a benchmark by a tenth. A smaller size would cost time, since new pages are
cleared.

Python seeks cycles of unreachable objects more rarely than by default, since a command makes few.

Other C libraries, and programs that import hexsim, are not changed.
"""

import ctypes
import gc

_M_TRIM_THRESHOLD, _M_MMAP_THRESHOLD, _M_ARENA_MAX = -1, -3, -8
"""Numbers in glibc's malloc.h."""
_MAPPED_BYTES = 2 << 20
"""The largest of 1, 2, 4 and 8 MB with which little memory stays in the heap."""
_LARGEST_KEPT_BYTES, _KEPT_BYTES = 1 << 25, 1 << 30
"""Largest size of an array that glibc allows, and bytes that may be free at the heap's end."""
_OBJECTS_BETWEEN_SEARCHES = 200_000
"""New containers after which Python looks for cycles; by default it is 700."""


def seek_cycles_rarely() -> None:
    """Let Python look for unreachable cycles rarely, which the peak memory does not show.

    By default a short command spends a tenth of its time on it (measured).
    """
    gc.set_threshold(_OBJECTS_BETWEEN_SEARCHES)


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
