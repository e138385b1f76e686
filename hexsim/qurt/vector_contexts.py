"""HVX contexts: locked by threads, waited for in the order of priority.

A request is for one or more contexts at once, so that no two can wait for each other. Whoever is
most urgent comes first, among equals whoever asked first; nobody overtakes a more urgent request
that still waits for more contexts than are free. A try-lock takes what is free or nothing.

Left out: saving the context of a descheduled thread, which QuRT can do from V65 on (Hexagon NN
locks its contexts on every chip), and the 200 ms time-out of the resource manager.

Sources: Hexagon SDK 3.5.4, HVX overview and HVX resource manager.
"""

from __future__ import annotations

import simpy

from hexsim.simtime import Environment


class _Request(simpy.Event):
    """Waits for `count` contexts; succeeds once they are locked."""

    def __init__(self, env: Environment, count: int, priority: int) -> None:
        super().__init__(env)
        self.count = count
        self.priority = priority


class VectorContexts:
    """The contexts of one DSP."""

    def __init__(self, env: Environment, count: int) -> None:
        self.count = count
        self._env = env
        self._free = count
        self._waiting: list[_Request] = []

    def lock(self, count: int, priority: int) -> simpy.Event:
        """Lock `count` contexts; the event has been triggered at once if none waited."""
        request = _Request(self._env, count, priority)
        self._waiting.append(request)
        self._waiting.sort(key=lambda waiting: waiting.priority)
        self._grant()
        return request

    def try_lock(self, count: int) -> bool:
        """Lock `count` contexts if they are free now; tell whether they were."""
        if count > self._free:
            return False
        self._free -= count
        return True

    def unlock(self, count: int) -> None:
        """Give back `count` contexts."""
        self._free += count
        self._grant()

    def _grant(self) -> None:
        while self._waiting and self._waiting[0].count <= self._free:
            request = self._waiting.pop(0)
            self._free -= request.count
            request.succeed()
