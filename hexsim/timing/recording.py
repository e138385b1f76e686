"""Recordings of the parts of the phone: who occupies a place, how high a rate is.

Hardware threads and vector contexts are places, each with at most one occupant; DDR and the cores
of the CPU are rates that their users share. Recording slows a simulation down, so only workloads
that ask for it are recorded.
"""

from collections.abc import Sequence

from hexsim.timing.results import Level, Span
from hexsim.timing.simtime import Environment


class Places:
    """Numbered places, each with a track; each occupation becomes a span."""

    def __init__(self, env: Environment, name: str, count: int, spans: list[Span]) -> None:
        self._env = env
        self._name = name
        self._spans = spans
        self._occupants: list[str | None] = [None] * count
        self._since = [0] * count

    def occupied_by(self, occupants: Sequence[str | None]) -> None:
        """Record the occupants of all places from now on."""
        for place, (before, after) in enumerate(zip(self._occupants, occupants, strict=True)):
            if before != after:
                self._leave(place)
                self._occupants[place] = after

    def end(self) -> None:
        """Record that all places are empty."""
        self.occupied_by([None] * len(self._occupants))

    def _leave(self, place: int) -> None:
        start, self._since[place] = self._since[place], self._env.now
        occupant = self._occupants[place]
        if occupant is not None and self._env.now > start:
            self._spans.append(Span(f"{self._name} {place}", occupant, start, self._env.now))


class Meter:
    """The sum of the rates of all users; multiplied by `scale` it is in `unit`."""

    def __init__(
        self, env: Environment, name: str, unit: str, capacity: float, scale: float
    ) -> None:
        self._env = env
        self._name = name
        self._unit = unit
        self._capacity = capacity
        self._scale = scale
        self._steps: list[tuple[int, float]] = [(0, 0.0)]

    def reads(self, rate: float) -> None:
        """Record the rate from now on; of several at one instant the last one counts."""
        now, value = self._env.now, rate * self._scale
        if self._steps[-1][0] == now:
            self._steps.pop()
        if not self._steps or self._steps[-1][1] != value:
            self._steps.append((now, value))

    @property
    def level(self) -> Level:
        """The rates recorded so far."""
        return Level(self._name, self._unit, self._capacity, tuple(self._steps))


class Recording:
    """All places and meters of one phone; `spans` is the phone's list of spans."""

    def __init__(self, env: Environment, spans: list[Span]) -> None:
        self._env = env
        self._spans = spans
        self._places: list[Places] = []
        self._meters: list[Meter] = []

    def places(self, name: str, count: int) -> Places:
        """Record `count` places; their tracks are called `name` 0, `name` 1, and so on."""
        self._places.append(Places(self._env, name, count, self._spans))
        return self._places[-1]

    def meter(self, name: str, unit: str, capacity: float, *, scale: float = 1) -> Meter:
        """Record a rate that can be at most `capacity`, in `unit`."""
        self._meters.append(Meter(self._env, name, unit, capacity, scale))
        return self._meters[-1]

    def end(self) -> tuple[Level, ...]:
        """End all spans; return the levels of all meters, which end at zero."""
        for places in self._places:
            places.end()
        for meter in self._meters:
            meter.reads(0.0)
        return tuple(meter.level for meter in self._meters)
