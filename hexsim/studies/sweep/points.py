"""The points of a space by number: what each one asks for follows from its number alone.

The first list of the file varies slowest: settings, workloads, the constants that go through lists
and steps, and last the draws. So a space of 10^9 points takes no more memory than one of ten.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property

import numpy as np

from hexsim.datasheets.stacks import BufferType
from hexsim.studies.draws import Array, latin_hypercube
from hexsim.studies.sweep.settings import Setting
from hexsim.studies.sweep.space import Space
from hexsim.studies.sweep.values import value_at


@dataclass(frozen=True)
class SweepCalling:
    """One way of calling a network; profile and buffer None are the stack's own."""

    instances: int
    background: tuple[str, ...]
    perf_profile: str | None
    buffer: BufferType | None
    idle_ms: float


@dataclass(frozen=True)
class SweepPoint:
    """One point: what is simulated."""

    number: int
    setting: Setting
    calling: SweepCalling
    constants: Mapping[str, float]


@dataclass(frozen=True)
class Points:
    """All points of a space, whose settings are ready."""

    space: Space
    settings: Sequence[Setting] = field(repr=False)

    def __len__(self) -> int:
        """How many there are."""
        return math.prod(self._sizes)

    def __getitem__(self, number: int) -> SweepPoint:
        """The point of a number, from 0 on."""
        if not 0 <= number < len(self):
            raise IndexError(number)
        at, calling, *steps, draw = map(int, np.unravel_index(number, self._sizes))
        setting = self.settings[at]
        drawn = dict(zip(self.space.drawn, self._shares[draw], strict=True))
        step = dict(zip(self.space.constants, steps, strict=True))
        values = {
            path: value_at(how, setting.constants[path], step[path], float(drawn.get(path, 0.0)))
            for path, how in self.space.constants.items()
        }
        values |= {path: float(round(values[path])) for path in setting.counted}
        return SweepPoint(number, setting, self._callings[calling], values)

    @cached_property
    def _sizes(self) -> tuple[int, ...]:
        steps = (how.count for how in self.space.constants.values())
        return len(self.settings), len(self._callings), *steps, self.space.draws

    @cached_property
    def _callings(self) -> list[SweepCalling]:
        calls = self.space.workload
        profiles, buffers = calls.perf_profiles or (None,), calls.buffers or (None,)
        lists = (calls.instances, calls.background, profiles, buffers, calls.idle_ms)
        return [SweepCalling(*one) for one in itertools.product(*lists)]

    @cached_property
    def _shares(self) -> Array:
        """The draws: for each, where every drawn constant is in its range (0 .. 1)."""
        return latin_hypercube(self.space.draws, len(self.space.drawn), self.space.seed)
