"""Programs: all work of a subnet, done by one or several threads without Python in between.

Each kernel step is a row of a table of numbers. Every thread goes through the table: it takes
pieces of a step from a counter until none is left, then waits until all threads are done with the
step. A plain function between steps ends the table; the next begins behind it.
"""

from __future__ import annotations

import os
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from itertools import groupby
from typing import Any

import numpy as np
import numpy.typing as npt
from numba.core import types

from hexsim.int8.atomics import add_and_fetch_old, call_entry, read_shared, write_word
from hexsim.int8.entry import entries, words
from hexsim.int8.jit import inlined, kernel
from hexsim.int8.step import FIRST, LAST, Row, Scratch, Step, Work, aligned

Int64 = npt.NDArray[np.int64]

_PIECES = 4
"""Pieces per thread: enough that nobody waits long, few enough that weights are read few times."""
_SPINS = 2000
"""Looks at the counter before a waiting thread offers its core to others."""
_COUNTERS = 16
"""int64 words between counters, so that they do not share a cache line (or an adjacent pair)."""


_MOST_THREADS = 4
"""Threads taken if nobody chooses. Layers of a few dozen rows leave more of them waiting (assumed;
measured with two)."""


def _possible(threads: int) -> int:
    """`threads`, or one per core if 0; one where threads cannot offer their core to others."""
    if not hasattr(os, "sched_yield"):
        return 1
    known = hasattr(os, "sched_getaffinity")
    cores = len(os.sched_getaffinity(0)) if known else os.cpu_count() or 1
    return threads or min(cores, _MOST_THREADS)


class Program:
    """Work made ready to be repeated; one run at a time.

    `threads` is 0 for one per core.
    """

    def __init__(self, work: Sequence[Work], threads: int) -> None:
        self.threads = _possible(threads)
        scratch = max((_scratch_bytes(step) for step in work if isinstance(step, Step)), default=0)
        self._scratch = [aligned(scratch) for _ in range(self.threads)]
        self._parts: list[_Table | Work] = []
        for is_step, group in groupby(work, lambda one: isinstance(one, Step)):
            steps: list[Any] = list(group)
            self._parts += [_Table(steps, self._scratch)] if is_step else steps
        self._helpers = ThreadPoolExecutor(self.threads - 1) if self.threads > 1 else None

    def run(self) -> None:
        """Do all work."""
        for part in self._parts:
            if not isinstance(part, _Table):
                part()
                continue
            part.reset()
            others = [
                self._helpers.submit(part.run, thread)  # type: ignore[union-attr]
                for thread in range(1, self.threads)
            ]
            part.run(0)
            for other in others:
                other.result()


class _Table:
    """Steps as numbers, a row each: entry, rows, rows of a piece, the places of FIRST and LAST
    among the words, the words of each thread.
    """

    def __init__(self, steps: Sequence[Step], scratch: Sequence[npt.NDArray[np.uint8]]) -> None:
        self._threads = len(scratch)
        self._kept: list[object] = [steps, scratch]
        known = entries(step.kernel for step in steps)
        rows = [[known[step.kernel], *self._row(step, scratch)] for step in steps]
        self._rows = np.array(rows, np.int64)
        self._counters = aligned(8 * 2 * _COUNTERS * len(steps)).view(np.int64)

    def _row(self, step: Step, scratch: Sequence[npt.NDArray[np.uint8]]) -> list[int]:
        pieces = 1 if self._threads == 1 else _PIECES * self._threads
        piece = -(-step.rows // pieces)
        piece = -(-piece // step.grain) * step.grain
        each = [_words(step, memory) for memory in scratch]
        self._kept += [one for one, _ in each]
        places = [each[0][1].get(row, 0) for row in (FIRST, LAST)]
        addresses = [one.ctypes.data for one, _ in each]
        return [step.rows, piece, *places, *addresses]

    def reset(self) -> None:
        """Forget the last run."""
        self._counters[:] = 0

    def run(self, thread: int) -> None:
        """Do the share of `thread`; the others must run at the same time."""
        _run(self._rows, self._counters, thread, self._threads)


def _scratch_bytes(step: Step) -> int:
    return sum(one.bytes for one in step.arguments if isinstance(one, Scratch))


def _words(step: Step, scratch: npt.NDArray[np.uint8]) -> tuple[Int64, dict[Row, int]]:
    """The words of the arguments for one thread, and where those of FIRST and LAST are.

    Word 0 is written and never read: a step without rows of its own points there.
    """
    found, places, used = [0], {}, 0
    for argument in step.arguments:
        if isinstance(argument, Row):
            places[argument] = len(found)
            found.append(0)
        elif isinstance(argument, Scratch):
            part = scratch[used : used + argument.size * np.dtype(argument.dtype).itemsize]
            used += argument.bytes
            found += words(part.view(argument.dtype))
        else:
            found += words(argument)
    return np.array(found, np.int64), places


@inlined
def _yield_nothing() -> None:
    pass


_yield_core: Any = _yield_nothing
if hasattr(os, "sched_yield"):
    _yield_core = types.ExternalFunction("sched_yield", types.int32())


@kernel("void(int64[:,::1],int64[::1],int64,int64)")
def _run(table: Int64, counters: Int64, thread: int, threads: int) -> None:
    for at in range(table.shape[0]):
        row = table[at]
        words = row[5 + thread]
        taken = counters.ctypes.data + at * 16 * _COUNTERS
        arrived = taken + 8 * _COUNTERS
        while True:
            first = add_and_fetch_old(taken, row[2])
            if first >= row[1]:
                break
            write_word(words, row[3], first)
            write_word(words, row[4], min(first + row[2], row[1]))
            call_entry(row[0], words + 8)
        if threads > 1:
            add_and_fetch_old(arrived, 1)
            spins = 0
            while read_shared(arrived) < threads:
                spins += 1
                if spins > _SPINS:
                    _yield_core()
                    spins = 0
