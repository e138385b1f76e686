"""A subnet's steps as one table that several threads process without Python.

Each kernel step is a row of a table of words; a plain function between steps ends the table, and
the next one begins behind it. A job is five words: how many threads may take part, rows of the
table, words of a row, addresses of the table and of its counters.

The thread that asks leads: it publishes a job and begins with it. The threads of the pool join as
soon as their cores let them, take pieces of the current step, and are waited for only as long as
they hold a piece. So the leader never waits for a thread whose core is busy with something else; it
does that thread's share meanwhile. Between jobs a pool thread looks for the next job for a while,
then sleeps.

Each thread has a section of a step's rows, the same part of every step, and takes rows of other
sections only when its own is done. So it has mostly written itself, a step before, what it reads:
rows that another core has written come from that core's cache. If two cores have no cache in
common, that takes several times as long as from the core's own cache.
"""

import contextlib
import ctypes
import os
import threading
from collections.abc import Callable, Iterator, Sequence
from itertools import accumulate, chain, groupby
from typing import Any

import numpy as np
import numpy.typing as npt

from hexsim.int8.machine_code.addresses import (
    CAN_YIELD,
    add_and_fetch_old,
    call_entry,
    read_shared,
    write_word,
    yield_core,
)
from hexsim.int8.machine_code.arguments import (
    Array,
    Int64,
    Word,
    Words,
    aligned,
    expanded,
    fields_of,
)
from hexsim.int8.machine_code.jit import check, entries, inlined, kernel
from hexsim.int8.step import FIRST, LAST, RowArgument, Scratch, Step, Work
from hexsim.threads import default_threads

LINE = 16
"""int64 words between counters, so that they do not share a cache line (or an adjacent pair)."""
ENTRY, ROWS, SECTION, PIECE, FIRST_AT, LAST_AT, WORDS = range(7)
"""What a row of a table holds: the entry, rows, rows of a section and of a piece, where the numbers
of the piece's first and last row go, and from WORDS on the address of each thread's arguments."""


def counter_words(threads: int, steps: int) -> int:
    """Return the number of int64 words for the counters of a table.

    Each step has a counter of the rows that are done, and each of its sections one of the rows that
    are taken.
    """
    return LINE * (1 + threads) * steps


_SPINS = 2000
"""Times that a waiting thread looks before it offers its core to others; about a microsecond
(measured)."""
_PATIENCE = 40
"""Times that a pool thread without a job offers its core before it sleeps: some 50 us (measured),
in which Python begins the next inference of a loop. Waking the thread would take as long."""
_JOBS, _JOB, _INSIDE = 0, 8 * LINE, 16 * LINE
"""Bytes to the words that all threads share: jobs so far, address of the open job or 0, threads in
it."""


class ThreadPool:
    """The pool threads of this process, as many as were ever needed; they never end."""

    def __init__(self) -> None:
        self._turn = threading.Lock()
        self._shared = aligned(8 * 3 * LINE).view(np.int64)
        self._shared[:] = 0
        self._threads: list[_PoolThread] = []

    def lead(self, job: Words) -> bool:
        """Do `job` with the pool; return False, having done nothing, if the pool is busy."""
        if not self._turn.acquire(blocking=False):
            return False
        try:
            self._wake(int(job.numbers[0, 0]) - 1)
            _lead(self._shared, job.numbers)
        finally:
            self._turn.release()
        return True

    def _wake(self, wanted: int) -> None:
        while len(self._threads) < wanted:
            self._threads.append(_PoolThread(self._shared, len(self._threads) + 1))
        for thread in self._threads[:wanted]:
            thread.wake()


class _PoolThread:
    """A thread that takes part in jobs, and sleeps when there is nothing to do."""

    def __init__(self, shared: Int64, number: int) -> None:
        self._shared, self._number = shared, number
        self._asleep = aligned(8 * LINE).view(np.int64)[:1]
        self._asleep[0] = 0
        self._woken = threading.Semaphore(0)
        thread = threading.Thread(target=self._live, name=f"hexsim-{number}", daemon=True)
        thread.start()
        _send_elsewhere(thread)

    def wake(self) -> None:
        """Let it look for a job, if it sleeps."""
        if self._asleep[0]:
            self._asleep[0] = 0
            self._woken.release()

    def _live(self) -> None:
        while True:
            _serve(self._shared, self._asleep, self._number)
            self._woken.acquire()


def _send_elsewhere(thread: threading.Thread) -> None:
    """Move a thread to another core than this one, once.

    Linux may let a new thread wait behind its creator for milliseconds, in which most networks
    finish; a thread is woken where it has run before. If it were held there for good, it would hold
    pieces while others use that core: a network took twice its time on one of two cores.
    """
    known = hasattr(os, "sched_setaffinity") and getattr(ctypes.PyDLL(None), "sched_getcpu", None)
    if known and thread.native_id:
        cores = os.sched_getaffinity(0)
        with contextlib.suppress(OSError):  # the only core, or forbidden
            os.sched_setaffinity(thread.native_id, cores - {known()})
            os.sched_setaffinity(thread.native_id, cores)


@inlined
def _take_part(job: int, thread: int) -> None:
    """Take pieces of each step until none is left, and wait until all its rows are done."""
    threads, row, done_at = read_shared(job), read_shared(job + 24), read_shared(job + 32)
    for _ in range(read_shared(job + 8)):
        rows, section = read_shared(row + 8 * ROWS), read_shared(row + 8 * SECTION)
        words = read_shared(row + 8 * (WORDS + thread))
        for turn in range(threads):
            owner = (thread + turn) % threads
            start, taken_at = owner * section, done_at + 8 * LINE * (1 + owner)
            _take_pieces(row, words, start, min(start + section, rows), taken_at, done_at)
        spins = 0
        while read_shared(done_at) < rows:
            spins += 1
            if spins > _SPINS:
                yield_core()
                spins = 0
        row += 8 * read_shared(job + 16)
        done_at += 8 * LINE * (1 + threads)


@inlined
def _take_pieces(row: int, words: int, start: int, end: int, taken_at: int, done_at: int) -> None:
    """Do rows of a section, `start` to `end` - 1, until all are taken."""
    piece = read_shared(row + 8 * PIECE)
    while start + read_shared(taken_at) < end:
        first = start + add_and_fetch_old(taken_at, piece)
        if first >= end:
            break
        last = min(first + piece, end)
        write_word(words, read_shared(row + 8 * FIRST_AT), first)
        write_word(words, read_shared(row + 8 * LAST_AT), last)
        call_entry(read_shared(row + 8 * ENTRY), words + 8)
        add_and_fetch_old(done_at, last - first)


@kernel("void(int64[::1],int64[:,::1])")
def _lead(shared: Int64, words: Int64) -> None:
    shared_at, job = shared.ctypes.data, np.int64(words.ctypes.data)
    for counter in range((1 + read_shared(job)) * read_shared(job + 8)):
        write_word(read_shared(job + 32), counter * LINE, 0)
    add_and_fetch_old(shared_at + _JOB, job)
    add_and_fetch_old(shared_at + _JOBS, 1)
    _take_part(job, 0)
    add_and_fetch_old(shared_at + _JOB, -job)
    spins = 0
    while add_and_fetch_old(shared_at + _INSIDE, 0) > 0:
        spins += 1
        if spins > _SPINS:
            yield_core()
            spins = 0


@kernel("void(int64[::1],int64[::1],int64)")
def _serve(shared: Int64, asleep: Int64, thread: int) -> None:
    shared_at = shared.ctypes.data
    seen, spins, patience = 0, 0, _PATIENCE
    while patience > 0:
        jobs = read_shared(shared_at + _JOBS)
        if jobs != seen:
            seen, patience = jobs, _PATIENCE
            add_and_fetch_old(shared_at + _INSIDE, 1)
            job = read_shared(shared_at + _JOB)
            if job != 0 and thread < read_shared(job):
                _take_part(job, thread)
            add_and_fetch_old(shared_at + _INSIDE, -1)
        spins += 1
        if spins > _SPINS:
            yield_core()
            spins, patience = 0, patience - 1
    add_and_fetch_old(asleep.ctypes.data, 1)


_the_thread_pool = ThreadPool()


def _replace_the_pool() -> None:
    global _the_thread_pool
    _the_thread_pool = ThreadPool()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_replace_the_pool)  # a forked process has no other threads


def the_thread_pool() -> ThreadPool:
    """Return the thread pool of this process."""
    return _the_thread_pool


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
