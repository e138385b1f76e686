"""Stops calls that take too long; one thread watches all calls of the process.

Starting a thread for each inference would cost more than the inference of a small network,
especially when all cores are busy. The thread sleeps until the earliest known deadline, so a later
inference that finishes in time neither starts nor wakes a thread.
"""

import contextlib
import math
import os
import threading
import time
from collections.abc import Callable, Iterator


class Watch:
    """A thread that calls the `stop` function of late calls, started when first needed."""

    def __init__(self) -> None:
        self._changed = threading.Condition()
        self._open: dict[object, tuple[float, Callable[[], None]]] = {}
        self._thread: threading.Thread | None = None
        self._wakes = math.inf

    @contextlib.contextmanager
    def limit(self, seconds: float, stop: Callable[[], None]) -> Iterator[None]:
        """Call `stop` if the block takes longer, in another thread and never after the block."""
        key, end = object(), time.monotonic() + seconds
        with self._changed:
            if self._thread is None:
                thread = threading.Thread(target=self._watch, name="hexsim-watch", daemon=True)
                thread.start()
                self._thread = thread
            self._open[key] = end, stop
            if end < self._wakes:
                self._changed.notify()
        try:
            yield
        finally:
            with self._changed:
                self._open.pop(key, None)

    def _watch(self) -> None:
        with self._changed:
            while True:
                now = time.monotonic()
                for key, (end, stop) in list(self._open.items()):
                    if end <= now:
                        del self._open[key]
                        stop()
                self._wakes = min((end for end, _ in self._open.values()), default=math.inf)
                self._changed.wait(min(self._wakes - now, threading.TIMEOUT_MAX))


_watch = Watch()


def _begin_anew() -> None:
    global _watch
    _watch = Watch()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_begin_anew)  # a forked process has no other threads


def limited(seconds: float, stop: Callable[[], None]) -> contextlib.AbstractContextManager[None]:
    """Watch the block: `stop` is called in another thread if it takes longer than `seconds`."""
    return _watch.limit(seconds, stop)
