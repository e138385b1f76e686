"""What of a phone is recorded, on request: who is where, and how much is moved.

Hardware threads and vector contexts are places, each with at most one occupant; DDR and the cores
of the CPU are rates that their users share. Recording slows a simulation down, so only workloads
that ask for it are recorded.
"""

from __future__ import annotations

from collections.abc import Sequence

from hexsim.records import dataclass, field
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


@dataclass(frozen=True)
class Meter:
    """The sum of the rates of all users; multiplied by `scale` it is in `unit`."""

    env: Environment
    name: str
    unit: str
    capacity: float
    scale: float
    steps: list[tuple[int, float]] = field(default_factory=lambda: [(0, 0.0)])

    def reads(self, rate: float) -> None:
        """Record the rate from now on; of several at one instant the last one counts."""
        now, value = self.env.now, rate * self.scale
        if self.steps[-1][0] == now:
            self.steps.pop()
        if not self.steps or self.steps[-1][1] != value:
            self.steps.append((now, value))

    @property
    def level(self) -> Level:
        """The rates recorded so far."""
        return Level(self.name, self.unit, self.capacity, tuple(self.steps))


@dataclass(frozen=True)
class Recording:
    """All places and meters of one phone; `spans` is the phone's list of spans."""

    env: Environment
    spans: list[Span]
    _places: list[Places] = field(default_factory=list)
    _meters: list[Meter] = field(default_factory=list)

    def places(self, name: str, count: int) -> Places:
        """Record `count` places; their tracks are called `name` 0, `name` 1, and so on."""
        self._places.append(Places(self.env, name, count, self.spans))
        return self._places[-1]

    def meter(self, name: str, unit: str, capacity: float, *, scale: float = 1) -> Meter:
        """Record a rate that can be at most `capacity`, in `unit`."""
        self._meters.append(Meter(self.env, name, unit, capacity, scale))
        return self._meters[-1]

    def end(self) -> tuple[Level, ...]:
        """End all spans; return the levels of all meters, which end at zero."""
        for places in self._places:
            places.end()
        for meter in self._meters:
            meter.reads(0.0)
        return tuple(meter.level for meter in self._meters)
