"""Kernel command lists: all work of a subnet, done by one or several threads without Python.

Each kernel step is a row of a table of words, which the threads of `commands.thread_pool` process
together. A plain function between steps ends the table; the next table begins behind it.
"""

from collections.abc import Callable, Iterator, Sequence
from itertools import accumulate, chain, groupby
from typing import Any

import numpy as np
import numpy.typing as npt

from hexsim.int8.commands.thread_pool import (
    ENTRY,
    FIRST_AT,
    LAST_AT,
    ROWS,
    SECTION,
    WORDS,
    counter_words,
    the_thread_pool,
)
from hexsim.int8.machine_code.atomics import CAN_YIELD, call_entry, write_word
from hexsim.int8.machine_code.entry import check, entries
from hexsim.int8.machine_code.jit import kernel
from hexsim.int8.machine_code.memory import aligned
from hexsim.int8.machine_code.record import fields_of
from hexsim.int8.machine_code.words import Array, Int64, Word, Words, expanded
from hexsim.int8.step import FIRST, LAST, RowArgument, Scratch, Step, Work
from hexsim.threads.cores import default_threads

_PIECES = 4
"""Pieces of a section: enough that no thread waits long, few enough that weights are seldom read.
"""
_LEAST_SHARED = 1 << 15
"""Bytes of a step's arguments from which on threads share it; a smaller step is done before another
core has read them (8 to 64 KB measured alike)."""


class KernelCommandList:
    """Work made ready to be repeated; one run at a time.

    It owns all memory that its steps read and write; the caller need not hold it. `threads` is 0
    for one per core.
    """

    def __init__(self, work: Sequence[Work], threads: int) -> None:
        self.threads = (threads or default_threads()) if CAN_YIELD else 1
        scratch = max((_scratch_bytes(step) for step in work if isinstance(step, Step)), default=0)
        scratches = [aligned(scratch) for _ in range(self.threads)]
        self._parts: list[_CommandTable | Callable[[], None]] = []
        for is_step, group in groupby(work, lambda item: isinstance(item, Step)):
            steps: list[Any] = list(group)
            self._parts += [_CommandTable(steps, scratches)] if is_step else steps

    def owned(self) -> Iterator[Array]:
        """Yield all arrays that machine code reaches from here; plain functions hold their own."""
        for part in self._parts:
            if isinstance(part, _CommandTable):
                yield from part.owned()

    def run(self, *, alone: bool = False) -> None:
        """Do all work, with the thread pool unless `alone`."""
        for part in self._parts:
            if isinstance(part, _CommandTable):
                part.run(alone=alone)
            else:
                part()


class _CommandTable:
    """Steps as words, a row each; they own all that the steps read and write."""

    def __init__(self, steps: Sequence[Step], scratch: Sequence[npt.NDArray[np.uint8]]) -> None:
        known = entries(step.kernel for step in steps)
        self._rows = Words([[known[step.kernel], *_row(step, scratch)] for step in steps])
        numbers = self._rows.numbers
        self._shared = bool((numbers[:, ROWS] > numbers[:, SECTION]).any())
        counters = aligned(8 * counter_words(len(scratch), len(steps)))
        self._job = Words([[len(scratch), *numbers.shape, self._rows, counters]])

    def owned(self) -> Iterator[Array]:
        """Yield all arrays that its steps reach."""
        return self._job.owned()

    def run(self, *, alone: bool) -> None:
        """Do all rows; unless `alone`, with the thread pool if that pays and it is free."""
        if alone or not (self._shared and the_thread_pool().lead(self._job)):
            _run_alone(self._rows.numbers)


def _row(step: Step, scratch: Sequence[npt.NDArray[np.uint8]]) -> list[Word]:
    """Return the words of a step's row, without the entry.

    Word 0 of a thread is written and never read: a step without rows of its own points there. The
    words of each thread begin a cache line, because the thread writes there.
    """
    argument_lists = [_arguments(step, memory) for memory in scratch]
    check(step.kernel, argument_lists[0])
    *starts, _ = accumulate((len(expanded(argument)) for argument in argument_lists[0]), initial=1)
    pairs = zip(fields_of(step.arguments), starts, strict=True)
    positions = {argument: start for argument, start in pairs if isinstance(argument, RowArgument)}
    words = [
        Words([[0, *chain.from_iterable(map(expanded, arguments))]]) for arguments in argument_lists
    ]
    return [
        step.rows,
        *_shares(step, len(scratch)),
        positions.get(FIRST, 0),
        positions.get(LAST, 0),
        *words,
    ]


def _shares(step: Step, threads: int) -> tuple[int, int]:
    """Return the rows of a thread's section, and how many of them are taken at once."""
    if threads == 1 or step.bytes < _LEAST_SHARED:
        return step.rows, step.rows
    section = _in_grains(step.rows, threads, step.grain)
    return section, _in_grains(section, _PIECES, step.grain)


def _in_grains(rows: int, parts: int, grain: int) -> int:
    """Return the rows of a part, in whole grains, if `parts` parts hold all rows."""
    return -(-rows // (parts * grain)) * grain


def _scratch_bytes(step: Step) -> int:
    return sum(
        argument.bytes for argument in fields_of(step.arguments) if isinstance(argument, Scratch)
    )


def _arguments(step: Step, scratch: npt.NDArray[np.uint8]) -> list[Any]:
    """Return the step's arguments, fields of records one by one, with the scratch of one thread.

    FIRST and LAST are 0.
    """
    arguments: list[Any] = []
    used = 0
    for argument in fields_of(step.arguments):
        if isinstance(argument, Scratch):
            part = scratch[used : used + argument.size * np.dtype(argument.dtype).itemsize]
            used += argument.bytes
            arguments.append(part.view(argument.dtype))
        else:
            arguments.append(0 if isinstance(argument, RowArgument) else argument)
    return arguments


@kernel("void(int64[:,::1])")
def _run_alone(table: Int64) -> None:
    for index in range(table.shape[0]):
        row = table[index]
        words = row[WORDS]
        write_word(words, row[FIRST_AT], 0)
        write_word(words, row[LAST_AT], row[ROWS])
        call_entry(row[ENTRY], words + 8)
