"""How memory goes back to the system: a large array when it is let go of, not when all around is.

A command that makes the same arrays for every input keeps their memory instead, since every page
that it gets anew is cleared, by one thread at a time.

glibc gives an array that it mapped by itself straight back. But with each such array that is freed
it raises the size from which on it maps, up to 32 MB, and what is smaller lies between things that
stay. It also keeps such a heap for each thread. A fixed size and one heap take a tenth off the most
that a benchmark needs. Smaller sizes would cost time, since new pages are cleared.

Left out: other C libraries, which are left as they are; and programs that import hexsim, whose
memory is their own business.
"""

from __future__ import annotations

import ctypes

_M_TRIM_THRESHOLD, _M_MMAP_THRESHOLD, _M_ARENA_MAX = -1, -3, -8
"""Numbers in glibc's malloc.h."""
_MAPPED_BYTES = 2 << 20
"""Of 1, 2, 4 and 8 MB the largest with which little stays behind."""
_LARGEST_KEPT_BYTES, _KEPT_BYTES = 1 << 25, 1 << 30
"""The most that glibc takes for the size of an array; and what may be free at the heap's end."""


def map_large_arrays() -> None:
    """Let glibc, if that is the C library, map large arrays and share one heap among threads."""
    _set(_M_MMAP_THRESHOLD, _MAPPED_BYTES)
    _set(_M_ARENA_MAX, 1)


def keep_large_arrays() -> None:
    """Let it keep their memory for the next ones: 64 pictures of MobileNetV2 are validated in 0.8
    of the time, with the same peak (measured).
    """
    _set(_M_MMAP_THRESHOLD, _LARGEST_KEPT_BYTES)
    _set(_M_TRIM_THRESHOLD, _KEPT_BYTES)


def _set(what: int, amount: int) -> None:
    mallopt = getattr(ctypes.CDLL(None), "mallopt", None)
    if mallopt is not None:
        mallopt(what, amount)
