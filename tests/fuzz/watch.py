"""A clock beside a case: whoever hangs is stopped, and told from whoever fails."""

from __future__ import annotations

import signal
from collections.abc import Iterator
from contextlib import contextmanager

SECONDS = 30
"""That a case may take before it counts as a hang; the slowest good file takes a second."""

CALL_SECONDS = 20
"""Of the processor that a call may take; the slowest good file takes a quarter, the first time."""


class HangError(BaseException):
    """A case took too long; nobody who catches what libraries raise catches it."""


def another_call() -> None:
    """Give the next call of a case the time that the case had for this one, if that is limited."""
    _, seconds = signal.getitimer(signal.ITIMER_PROF)
    if seconds:
        signal.setitimer(signal.ITIMER_PROF, CALL_SECONDS, seconds)


@contextmanager
def watched(seconds: int = SECONDS) -> Iterator[None]:
    """Raise HangError in the block if it takes longer."""

    def stop(*_: object) -> None:
        raise HangError

    before = signal.signal(signal.SIGALRM, stop)
    signal.alarm(seconds)
    try:
        yield
    finally:
        signal.alarm(0)
        signal.signal(signal.SIGALRM, before)
