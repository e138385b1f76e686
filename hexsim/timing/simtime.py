"""Simulated time: integer picoseconds, so that equal inputs give byte-equal timelines.

Events are simpy's. What follows in the same instant from an event that happens needs no event of
its own in the queue: it is a `Moment` of that event, and an `Activity` is a process that begins and
ends in such moments. Half of the events of an inference would be these.
"""

from collections.abc import Generator
from heapq import heappush
from operator import attrgetter
from typing import Any

import simpy
from simpy.events import NORMAL, EventPriority

Process = Generator[simpy.Event, Any, Any]
"""A simpy process; the docstring of the function says what it returns."""


AFTER_ALL_ELSE = EventPriority(NORMAL + 1)
"""Among the events of one instant simpy handles urgent ones first, then normal, then these."""


class Environment(simpy.Environment):
    """A simpy environment whose clock counts whole picoseconds; `scheduled` counts its events."""

    def __init__(self) -> None:
        super().__init__()
        self.scheduled = 0

    @property
    def ends_instant(self) -> bool:
        """Whether nothing is left in this instant but what comes after all else."""
        return not self._queue or self._queue[0][:2] >= (self._now, AFTER_ALL_ELSE)

    now: int = property(attrgetter("_now"))  # type: ignore[assignment]
    """Current time in picoseconds; asked for so often that a function in Python is too slow."""

    def schedule(
        self, event: simpy.Event, priority: EventPriority = NORMAL, delay: float = 0
    ) -> None:
        """Put an event in the queue, as simpy does, and count it."""
        self.scheduled += 1
        heappush(self._queue, (self._now + delay, priority, self.scheduled, event))


class Moment(simpy.Event):
    """An event that happens inside the one that causes it, instead of in its turn."""

    def happen(self, value: object = None) -> None:
        """Go on with what waits for it."""
        self._ok, self._value = True, value
        waiting, self.callbacks = self.callbacks, None  # type: ignore[assignment]
        for go_on in waiting:
            go_on(self)


class Activity(Moment):
    """A process that begins at once; its end is a moment, with what it returns as value."""

    def __init__(self, env: simpy.Environment, process: Process) -> None:
        super().__init__(env)
        self._process = process
        self._go_on(None)

    def _go_on(self, happened: simpy.Event | None) -> None:
        """Go on until the next event that has not happened yet."""
        try:
            awaited = self._process.send(happened and happened.value)
            while awaited.callbacks is None:  # it has been processed
                awaited = self._process.send(awaited.value)  # type: ignore[unreachable]
        except StopIteration as end:
            self.happen(end.value)
        else:
            awaited.callbacks.append(self._go_on)
