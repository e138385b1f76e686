"""The points of a space by number, from which all parameters of a point follow.

The first list of the file varies slowest: settings, workloads, the constants with lists and steps,
and last the draws. So a space of 10^9 points needs no more memory than one of ten.
"""

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


@dataclass(frozen=True)
class SweepCalling:
    """A way of calling a network; profile and buffer None are the stack's own, VTCM None is all."""

    instances: int
    background: tuple[str, ...]
    perf_profile: str | None
    buffer: BufferType | None
    idle_ms: float
    vtcm_mb: float | None


@dataclass(frozen=True)
class SweepPoint:
    """One point: a setting, a way of calling it, and values of constants."""

    number: int
    setting: Setting
    calling: SweepCalling
    constants: Mapping[str, float]


@dataclass(frozen=True)
class Points:
    """All points of a space with its settings."""

    space: Space
    settings: Sequence[Setting] = field(repr=False)

    def __len__(self) -> int:
        """Return the number of points."""
        return math.prod(self._sizes)

    def __getitem__(self, number: int) -> SweepPoint:
        """Return the point with a number, from 0 on."""
        if not 0 <= number < len(self):
            raise IndexError(number)
        at, calling, *steps, draw = map(int, np.unravel_index(number, self._sizes))
        setting = self.settings[at]
        shares = dict(zip(self.space.drawn, self._shares[draw], strict=True))
        step_of = dict(zip(self.space.constants, steps, strict=True))
        values = {
            path: how.value_at(setting.constants[path], step_of[path], float(shares.get(path, 0.0)))
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
        vtcm = self.space.vtcm_mb or (None,)
        lists = (calls.instances, calls.background, profiles, buffers, calls.idle_ms, vtcm)
        return [SweepCalling(*values) for values in itertools.product(*lists)]

    @cached_property
    def _shares(self) -> Array:
        """For each draw, the position of every drawn constant in its range (0 .. 1)."""
        return latin_hypercube(self.space.draws, len(self.space.drawn), self.space.seed)
