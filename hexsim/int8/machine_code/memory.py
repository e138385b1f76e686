"""Memory that begins at a cache line."""

import numpy as np
import numpy.typing as npt

ALIGNMENT = 64
"""Bytes of a cache line, which no two arrays share."""


def whole_lines(size: int) -> int:
    """Return the bytes rounded up to whole cache lines."""
    return -(-size // ALIGNMENT) * ALIGNMENT


def aligned(size: int) -> npt.NDArray[np.uint8]:
    """Return `size` undefined bytes that begin at a cache line."""
    buffer = np.empty(size + ALIGNMENT, np.uint8)
    start = -buffer.ctypes.data % ALIGNMENT
    return buffer[start : start + size]
