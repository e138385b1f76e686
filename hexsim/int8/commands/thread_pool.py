"""Threads that help with a table of steps, and what each of them does.

The thread that asks leads: it makes a job known and begins with it. Helpers join as soon as their
core lets them, take pieces of whatever step is being done, and are waited for only as long as they
hold a piece. So nobody waits for a worker whose core is busy with something else; the leader does
its share meanwhile. Between jobs a worker looks out for the next one for a while, then sleeps.

Each thread has a section of a step's rows, the same part of every step, and takes what is left of
others' only when its own is done. So what it reads it has mostly written itself, a step before: a
row of an image that another core has written comes from that core's cache. Where two cores have no
cache in common that takes several times as long as from an own one.

A job is five words: how many threads may take part, rows of the table, words of a row, addresses of
the table and of its counters. hexsim.int8.commands.command_list makes them.
"""

from __future__ import annotations

import contextlib
import ctypes
import os
import threading

import numpy as np
import numpy.typing as npt

from hexsim.int8.machine_code.atomics import (
    add_and_fetch_old,
    call_entry,
    read_shared,
    write_word,
    yield_core,
)
from hexsim.int8.machine_code.jit import inlined, kernel
from hexsim.int8.machine_code.memory import aligned
from hexsim.int8.machine_code.words import Words

Int64 = npt.NDArray[np.int64]

LINE = 16
"""int64 words between counters, so that they do not share a cache line (or an adjacent pair)."""
ENTRY, ROWS, SECTION, PIECE, FIRST_AT, LAST_AT, WORDS = range(7)
"""What a row of a table holds: the entry, rows, rows of a section and of a piece, where the numbers
of the piece's first and last row go, and from WORDS on the address of each thread's arguments."""


def counter_words(threads: int, steps: int) -> int:
    """int64 words for the counters of a table: of each step its rows that are done, and of each
    section those that are taken.
    """
    return LINE * (1 + threads) * steps


_SPINS = 2000
"""Looks before a waiting thread offers its core to others, about a microsecond (measured)."""
_PATIENCE = 40
"""So often it offers its core until a worker without a job sleeps: some 50 us (measured), in which
Python begins the next inference of a loop. Waking it would take as long."""
_JOBS, _JOB, _INSIDE = 0, 8 * LINE, 16 * LINE
"""Bytes to the words that all share: jobs so far, address of the open job or 0, workers in it."""


class ThreadPool:
    """Helpers of this process, as many as were ever needed; they live as long as it does."""

    def __init__(self) -> None:
        self._turn = threading.Lock()
        self._shared = aligned(8 * 3 * LINE).view(np.int64)
        self._shared[:] = 0
        self._workers: list[_Helper] = []

    def lead(self, job: Words) -> bool:
        """Do `job` with workers; return False, having done nothing, while they help elsewhere."""
        if not self._turn.acquire(blocking=False):
            return False
        try:
            self._wake(int(job.numbers[0, 0]) - 1)
            _lead(self._shared, job.numbers)
        finally:
            self._turn.release()
        return True

    def _wake(self, wanted: int) -> None:
        while len(self._workers) < wanted:
            self._workers.append(_Helper(self._shared, len(self._workers) + 1))
        for worker in self._workers[:wanted]:
            worker.wake()


class _Helper:
    """A thread that serves, and sleeps when there is nothing to do."""

    def __init__(self, shared: Int64, number: int) -> None:
        self._shared, self._number = shared, number
        self._asleep = aligned(8 * LINE).view(np.int64)[:1]
        self._asleep[0] = 0
        self._woken = threading.Semaphore(0)
        thread = threading.Thread(target=self._live, name=f"hexsim-{number}", daemon=True)
        thread.start()
        _send_elsewhere(thread)

    def wake(self) -> None:
        """Let it look out for a job, if it sleeps."""
        if self._asleep[0]:
            self._asleep[0] = 0
            self._woken.release()

    def _live(self) -> None:
        while True:
            _serve(self._shared, self._asleep, self._number)
            self._woken.acquire()


def _send_elsewhere(thread: threading.Thread) -> None:
    """Move a thread to another core than this one, once.

    Linux may let a new thread wait behind its maker for milliseconds, in which most networks are
    done; where it has run it is woken again. Held there for good, it would hold pieces while
    others use that core: a network took twice its time on one of two cores.
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
    threads, row, done = read_shared(job), read_shared(job + 24), read_shared(job + 32)
    for _ in range(read_shared(job + 8)):
        rows, section = read_shared(row + 8 * ROWS), read_shared(row + 8 * SECTION)
        words = read_shared(row + 8 * (WORDS + thread))
        for turn in range(threads):
            owner = (thread + turn) % threads
            start, taken = owner * section, done + 8 * LINE * (1 + owner)
            _take_pieces(row, words, start, min(start + section, rows), taken, done)
        spins = 0
        while read_shared(done) < rows:
            spins += 1
            if spins > _SPINS:
                yield_core()
                spins = 0
        row += 8 * read_shared(job + 16)
        done += 8 * LINE * (1 + threads)


@inlined
def _take_pieces(row: int, words: int, start: int, end: int, taken: int, done: int) -> None:
    """Do rows of a section, `start` to `end` - 1, until all are taken."""
    piece = read_shared(row + 8 * PIECE)
    while start + read_shared(taken) < end:
        first = start + add_and_fetch_old(taken, piece)
        if first >= end:
            break
        last = min(first + piece, end)
        write_word(words, read_shared(row + 8 * FIRST_AT), first)
        write_word(words, read_shared(row + 8 * LAST_AT), last)
        call_entry(read_shared(row + 8 * ENTRY), words + 8)
        add_and_fetch_old(done, last - first)


@kernel("void(int64[::1],int64[:,::1])")
def _lead(shared: Int64, words: Int64) -> None:
    at, job = shared.ctypes.data, np.int64(words.ctypes.data)
    for counter in range((1 + read_shared(job)) * read_shared(job + 8)):
        write_word(read_shared(job + 32), counter * LINE, 0)
    add_and_fetch_old(at + _JOB, job)
    add_and_fetch_old(at + _JOBS, 1)
    _take_part(job, 0)
    add_and_fetch_old(at + _JOB, -job)
    spins = 0
    while add_and_fetch_old(at + _INSIDE, 0) > 0:
        spins += 1
        if spins > _SPINS:
            yield_core()
            spins = 0


@kernel("void(int64[::1],int64[::1],int64)")
def _serve(shared: Int64, asleep: Int64, thread: int) -> None:
    at = shared.ctypes.data
    seen, spins, patience = 0, 0, _PATIENCE
    while patience > 0:
        jobs = read_shared(at + _JOBS)
        if jobs != seen:
            seen, patience = jobs, _PATIENCE
            add_and_fetch_old(at + _INSIDE, 1)
            job = read_shared(at + _JOB)
            if job != 0 and thread < read_shared(job):
                _take_part(job, thread)
            add_and_fetch_old(at + _INSIDE, -1)
        spins += 1
        if spins > _SPINS:
            yield_core()
            spins, patience = 0, patience - 1
    add_and_fetch_old(asleep.ctypes.data, 1)


_the_thread_pool = ThreadPool()


def _begin_anew() -> None:
    global _the_thread_pool
    _the_thread_pool = ThreadPool()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_begin_anew)  # a forked process has no other threads


def the_thread_pool() -> ThreadPool:
    """Return the workers of this process."""
    return _the_thread_pool
