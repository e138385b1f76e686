"""HVX contexts: threads lock them, and wait for them in the order of priority.

A request is for one or more contexts at once, so that no two requests can wait for each other. The
most urgent request is served first, among equals the earliest; no request overtakes a more urgent
one that still waits for more contexts than are free. A try-lock locks all its contexts or none.

Left out: saving the context of a preempted thread, which QuRT can do from V65 on (Hexagon NN
locks its contexts on every chip), and the 200 ms time-out of the resource manager.

Sources: Hexagon SDK 3.5.4, HVX overview and HVX resource manager.
"""

from collections.abc import Callable, Sequence

import simpy

from hexsim.timing.simtime import Environment


class _Request(simpy.Event):
    """Waits for `count` contexts; succeeds once `holder` has locked them."""

    def __init__(self, env: Environment, holder: str, count: int, priority: int) -> None:
        super().__init__(env)
        self.holder = holder
        self.count = count
        self.priority = priority


class VectorContexts:
    """The contexts of one DSP, and the holder of each."""

    def __init__(self, env: Environment, count: int) -> None:
        self.count = count
        self._env = env
        self._holders: list[str | None] = [None] * count
        self._waiting: list[_Request] = []
        self.on_change: Callable[[Sequence[str | None]], None] | None = None
        """Called with the holder of each context after every change."""

    def lock(self, holder: str, count: int, priority: int) -> simpy.Event:
        """Lock `count` contexts; the event is already triggered if they were free."""
        request = _Request(self._env, holder, count, priority)
        self._waiting.append(request)
        self._waiting.sort(key=lambda waiting: waiting.priority)
        self._grant()
        return request

    def try_lock(self, holder: str, count: int) -> bool:
        """Lock `count` contexts if they are free now; tell whether they are locked."""
        if count > self._free:
            return False
        self._take(holder, count)
        return True

    def unlock(self, holder: str) -> None:
        """Give back all contexts of a holder."""
        self._holders = [None if current == holder else current for current in self._holders]
        self._changed()
        self._grant()

    @property
    def _free(self) -> int:
        return self._holders.count(None)

    def _grant(self) -> None:
        while self._waiting and self._waiting[0].count <= self._free:
            request = self._waiting.pop(0)
            self._take(request.holder, request.count)
            request.succeed()

    def _take(self, holder: str, count: int) -> None:
        for _ in range(count):
            self._holders[self._holders.index(None)] = holder
        self._changed()

    def _changed(self) -> None:
        if self.on_change is not None:
            self.on_change(self._holders)
