"""Simulated time: integer picoseconds, so that equal inputs give byte-equal timelines."""

import math
from collections.abc import Generator
from heapq import heappush
from typing import Any

import simpy
from simpy.events import NORMAL, EventPriority

from hexsim.errors import HexsimError

PS_PER_SECOND = 10**12
PS_PER_MS = 10**9
PS_PER_US = 10**6


def seconds_to_ps(seconds: float) -> int:
    """Return the nearest picosecond; HexsimError for a time that is not finite."""
    if not math.isfinite(seconds * PS_PER_SECOND):
        raise HexsimError(
            f"something takes {seconds:.3g} seconds, too long to simulate; look for a constant of "
            "the chip or the stack that is far from usual ones"
        )
    return round(seconds * PS_PER_SECOND)


def ps_to_clocks(ps: int, clock_hz: float) -> int:
    """Return the whole cycles of a clock that end within `ps`, rounded to the nearest."""
    return round(ps * clock_hz / PS_PER_SECOND)


Process = Generator[simpy.Event, Any, Any]
"""A simpy process; the docstring of the function says what it returns."""


class Environment(simpy.Environment):
    """A simpy environment whose clock counts whole picoseconds; `scheduled` counts its events."""

    def __init__(self) -> None:
        super().__init__()
        self.scheduled = 0

    @property
    def now(self) -> int:
        """Current time in picoseconds."""
        return int(self._now)

    def schedule(
        self, event: simpy.Event, priority: EventPriority = NORMAL, delay: float = 0
    ) -> None:
        """Put an event in the queue, as simpy does, and count it."""
        self.scheduled += 1
        heappush(self._queue, (self._now + delay, priority, self.scheduled, event))
