"""Programs: all work of a subnet, done by one or several threads without Python in between.

Each kernel step is a row of a table of numbers, which the threads of `programs.team` go through
together. A plain function between steps ends the table; the next begins behind it.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import groupby
from typing import Any

import numpy as np
import numpy.typing as npt

from hexsim.int8.machine_code.atomics import call_entry, write_word
from hexsim.int8.machine_code.entry import check, entries, words
from hexsim.int8.machine_code.jit import kernel
from hexsim.int8.programs.cores import default_threads
from hexsim.int8.programs.team import (
    ENTRY,
    FIRST_AT,
    LAST_AT,
    LINE,
    PIECE,
    POSSIBLE,
    ROWS,
    WORDS,
    the_team,
)
from hexsim.int8.step import FIRST, LAST, Row, Scratch, Step, Work, aligned

Int64 = npt.NDArray[np.int64]

_PIECES = 4
"""Pieces per thread: enough that nobody waits long, few enough that weights are read few times."""
_LEAST_SHARED = 1 << 15
"""Bytes of a step's arguments from which on threads share it; less is done before another core has
them (assumed: no other value was tried)."""


class Program:
    """Work made ready to be repeated; one run at a time.

    `threads` is 0 for one per core.
    """

    def __init__(self, work: Sequence[Work], threads: int) -> None:
        self.threads = (threads or default_threads()) if POSSIBLE else 1
        scratch = max((_scratch_bytes(step) for step in work if isinstance(step, Step)), default=0)
        scratches = [aligned(scratch) for _ in range(self.threads)]
        self._parts: list[Work] = []
        for is_step, group in groupby(work, lambda one: isinstance(one, Step)):
            steps: list[Any] = list(group)
            self._parts += [_Table(steps, scratches)] if is_step else steps

    def run(self) -> None:
        """Do all work."""
        for part in self._parts:
            part()


class _Table:
    """Steps as numbers, a row each."""

    def __init__(self, steps: Sequence[Step], scratch: Sequence[npt.NDArray[np.uint8]]) -> None:
        self._kept: list[object] = [steps, scratch]
        known = entries(step.kernel for step in steps)
        rows = [[known[step.kernel], *self._row(step, scratch)] for step in steps]
        self._rows = np.array(rows, np.int64)
        self._counters = aligned(8 * 2 * LINE * len(steps)).view(np.int64)
        self._shared = bool((self._rows[:, ROWS] > self._rows[:, PIECE]).any())
        addresses = self._rows.ctypes.data, self._counters.ctypes.data
        self._job = np.array([len(scratch), *self._rows.shape, *addresses], np.int64)

    def _row(self, step: Step, scratch: Sequence[npt.NDArray[np.uint8]]) -> list[int]:
        each = [_words(step, memory) for memory in scratch]
        self._kept += [one for one, _ in each]
        places = [each[0][1].get(row, 0) for row in (FIRST, LAST)]
        addresses = [one.ctypes.data for one, _ in each]
        return [step.rows, _piece(step, len(scratch)), *places, *addresses]

    def __call__(self) -> None:
        """Do all rows, with helpers if it is worth it and they have nothing else to do."""
        if not (self._shared and the_team().lead(self._job)):
            _run_alone(self._rows)


def _piece(step: Step, threads: int) -> int:
    """Rows that a thread takes at once."""
    if threads == 1 or step.bytes < _LEAST_SHARED:
        return step.rows
    piece = -(-step.rows // (_PIECES * threads))
    return -(-piece // step.grain) * step.grain


def _scratch_bytes(step: Step) -> int:
    return sum(one.bytes for one in step.arguments if isinstance(one, Scratch))


def _words(step: Step, scratch: npt.NDArray[np.uint8]) -> tuple[Int64, dict[Row, int]]:
    """The words of the arguments for one thread, and where those of FIRST and LAST are.

    Word 0 is written and never read: a step without rows of its own points there. Each thread's
    begin a cache line, because it writes there.
    """
    arguments: list[Any] = []
    used = 0
    for argument in step.arguments:
        if isinstance(argument, Scratch):
            part = scratch[used : used + argument.size * np.dtype(argument.dtype).itemsize]
            used += argument.bytes
            arguments.append(part.view(argument.dtype))
        else:
            arguments.append(0 if isinstance(argument, Row) else argument)
    check(step.kernel, arguments)
    found, places = [0], {}
    for original, argument in zip(step.arguments, arguments, strict=True):
        if isinstance(original, Row):
            places[original] = len(found)
        found += words(argument)
    lines = aligned(8 * len(found)).view(np.int64)
    lines[:] = found
    return lines, places


@kernel("void(int64[:,::1])")
def _run_alone(table: Int64) -> None:
    for at in range(table.shape[0]):
        row = table[at]
        words = row[WORDS]
        write_word(words, row[FIRST_AT], 0)
        write_word(words, row[LAST_AT], row[ROWS])
        call_entry(row[ENTRY], words + 8)
