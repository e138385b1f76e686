"""Memory that begins a cache line."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

ALIGNMENT = 64
"""Bytes; a cache line, so that no two arrays share one."""


def whole_lines(size: int) -> int:
    """Bytes rounded up to whole cache lines."""
    return -(-size // ALIGNMENT) * ALIGNMENT


def aligned(size: int) -> npt.NDArray[np.uint8]:
    """Return `size` undefined bytes that begin a cache line."""
    room = np.empty(size + ALIGNMENT, np.uint8)
    start = -room.ctypes.data % ALIGNMENT
    return room[start : start + size]
