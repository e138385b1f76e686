"""Arrays that touch a page nobody may read or write: one element too far kills the process.

Kernels check no bounds, and an access just outside an array seldom shows: it hits other memory of
the process. Here it is a segmentation fault in the very test (pytest -X faulthandler names it).
"""

import ctypes
import mmap
import os
from functools import partial

import numpy as np

from hexsim.int8.machine_code.arguments import seen, with_fields
from hexsim.int8.step import RowArgument, Scratch, Step, Workspace

BEHIND, BEFORE, NOWHERE = "behind", "before", "nowhere"
"""Where the forbidden page is."""

_NO_ACCESS = 0  # PROT_NONE


def guarded(array, side):
    """Return a copy of `array` that ends (or, for BEFORE, begins) at a forbidden page."""
    copy = guarded_empty(np.shape(array), array.dtype, side)
    copy[...] = array
    return copy


def guarded_empty(shape, dtype, side):
    """The same with undefined contents; without guard where the system has no mprotect."""
    dtype = np.dtype(dtype)
    size = int(np.prod(shape)) * dtype.itemsize
    if side == NOWHERE or os.name != "posix" or size == 0:
        return np.frombuffer(memoryview(bytearray(size)), dtype).reshape(shape)
    pages = -(-size // mmap.PAGESIZE) * mmap.PAGESIZE
    memory = np.frombuffer(mmap.mmap(-1, pages + mmap.PAGESIZE), np.uint8)
    forbidden = memory.ctypes.data + (pages if side == BEHIND else 0)
    protect = ctypes.CDLL(None, use_errno=True).mprotect
    protect.argtypes = [ctypes.c_void_p, ctypes.c_size_t, ctypes.c_int]
    if protect(forbidden, mmap.PAGESIZE, _NO_ACCESS):
        raise OSError(ctypes.get_errno(), "mprotect")
    start = pages - size if side == BEHIND else mmap.PAGESIZE
    return memory[start : start + size].view(dtype).reshape(shape)


class GuardedWorkspace(Workspace):
    """Every array at a forbidden page of its own."""

    def __init__(self, side):
        super().__init__()
        self._side = side

    def empty(self, shape, dtype):
        return guarded_empty(shape, dtype, self._side)


def run_guarded(work, pieces, side):
    """Do a step's rows as threads might: in pieces, the last one first.

    Scratch and constants are at forbidden pages; so must be what the call's steps share already.
    """
    if not isinstance(work, Step):
        work()
        return
    size = -(-work.rows // (pieces * work.grain)) * work.grain
    guard = partial(_guarded_argument, side=side)
    arguments = [with_fields(argument, guard) for argument in work.arguments]
    for first in reversed(range(0, work.rows, size)):
        rows = {RowArgument.FIRST: first, RowArgument.LAST: min(first + size, work.rows)}
        given = partial(_given, rows=rows)
        work.kernel(*(with_fields(argument, given) for argument in arguments))


def _given(argument, rows):
    return rows[argument] if isinstance(argument, RowArgument) else argument


def _guarded_argument(argument, side):
    if isinstance(argument, Scratch):
        return guarded_empty(argument.size, argument.dtype, side)
    argument = seen(argument)
    if isinstance(argument, np.ndarray) and not _is_guarded(argument):
        return guarded(argument, side)
    return argument


def _is_guarded(array):
    while hasattr(array, "base"):
        array = array.base
    return isinstance(array, memoryview)
