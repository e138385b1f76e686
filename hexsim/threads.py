"""How work is shared among threads: the number of threads, and lists worked on in order.

The caller sees what it would see if one item were done after the other: an error in an item, or in
reading it, is raised in its place, after the results of all items before it. At most one item more
than there are execution contexts is read ahead.
"""

import os
from collections import deque
from collections.abc import Callable, Iterable, Iterator, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from pathlib import Path
from queue import SimpleQueue
from typing import Generic, TypeVar

_MOST_THREADS = 4
"""A layer of a few dozen rows would leave more threads than that waiting (assumed; measured with
two)."""
_MANY = 16
"""Steps of work from which on it is worth starting threads (assumed)."""
_CGROUP = Path("/sys/fs/cgroup")
"""The folder in which a container finds its own limits."""


def default_threads() -> int:
    """Return one thread for each core that this process may use, and at most four."""
    return max(1, min(_allowed_cores(), _quota_cores(_CGROUP), _MOST_THREADS))


def spread(work: Callable[[slice], None], count: int, step: int) -> None:
    """Do `work` on all of `count`, `step` at a time, on all cores if there are many steps.

    `work` is numpy code that releases the interpreter lock.
    """
    parts = [slice(start, start + step) for start in range(0, count, step)]
    if len(parts) < _MANY:
        for part in parts:
            work(part)
        return
    with ThreadPoolExecutor(default_threads()) as pool:
        for _ in pool.map(work, parts):
            pass


def _allowed_cores() -> int:
    known = hasattr(os, "sched_getaffinity")
    return len(os.sched_getaffinity(0)) if known else os.cpu_count() or 1


def _quota_cores(cgroup: Path) -> int:
    """Return the cores' worth of time that a container may spend, rounded down.

    Threads beyond that number are stopped until the next period, on whichever core they run.
    """
    try:
        if (cgroup / "cpu.max").exists():
            quota, period = (cgroup / "cpu.max").read_text().split()
        else:
            folder = cgroup / "cpu"
            quota, period = (
                (folder / f"cpu.cfs_{name}_us").read_text().strip() for name in ("quota", "period")
            )
        return int(quota) // int(period) if int(quota) > 0 else _MOST_THREADS
    except (OSError, ValueError):  # no limit: "max", or no such file
        return _MOST_THREADS


Item = TypeVar("Item")
Result = TypeVar("Result")


def side_by_side(
    items: Iterable[Item],
    single: Callable[[Item], Result],
    contexts: Callable[[], Sequence[Callable[[Item], Result]]],
) -> Iterator[Result]:
    """Yield the result of each item.

    `single` computes it if there is only one item. Of several items, each is computed by one of
    `contexts` in a thread of its own; a context computes one item at a time.
    """
    reader = _ItemReader(items)
    if not reader.has_next():
        reader.raise_error()
        return
    first = reader.next()
    if not reader.has_next():
        yield single(first)
        reader.raise_error()
        return
    functions = contexts()
    free: SimpleQueue[Callable[[Item], Result]] = SimpleQueue()
    for function in functions:
        free.put(function)

    def in_context(item: Item) -> Result:
        function = free.get()
        try:
            return function(item)
        finally:
            free.put(function)

    threads = ThreadPoolExecutor(len(functions), thread_name_prefix="hexsim-context")
    try:
        waiting = deque([threads.submit(in_context, first)])
        while waiting:
            while len(waiting) <= len(functions) and reader.has_next():
                waiting.append(threads.submit(in_context, reader.next()))
            yield _next(waiting)
    finally:
        threads.shutdown(cancel_futures=True)  # after an error, or when the caller stops early
    reader.raise_error()


def _next(waiting: deque[Future[Result]]) -> Result:
    """Return the first result in the queue, without keeping a reference to it here."""
    return waiting.popleft().result()


class _ItemReader(Generic[Item]):
    """Items that are read one at a time; an error that ends them is raised later, in its turn."""

    def __init__(self, items: Iterable[Item]) -> None:
        self._items = iter(items)
        self._read: list[Item] = []
        self._error: Exception | None = None
        self._ended = False

    def has_next(self) -> bool:
        """Return whether there is a next item, which is then read."""
        if not self._read and not self._ended:
            try:
                self._read.append(next(self._items))
            except StopIteration:
                self._ended = True
            except Exception as error:
                self._error, self._ended = error, True
        return bool(self._read)

    def next(self) -> Item:
        """Return the next item, after `has_next` returned True."""
        return self._read.pop()

    def raise_error(self) -> None:
        """Raise the error that ended the items, if there was one."""
        if self._error is not None:
            raise self._error
