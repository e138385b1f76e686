"""The CPU's big cores, shared by everything that the simulation runs on them.

A thread takes at most one core; threads who want more cores than there are share them evenly, as
a fair scheduler lets them. The CPU runtime asks for all cores, a conversion or a copy for one.

Left out: the small cores, which would take some of it, and other processes.
"""

from __future__ import annotations

from collections.abc import Sequence

from hexsim.timing.fluid import SharedRate, Sojourn, max_min
from hexsim.timing.simtime import Environment


class HostCores(SharedRate[int]):
    """The cores of one CPU; infinitely many where a chip does not state them."""

    def __init__(self, env: Environment, count: float) -> None:
        super().__init__(env)
        self.count = count

    def run(self, duration_ps: int, threads: int = 1) -> Sojourn[int]:
        """Run something that takes `duration_ps` if each of its threads has a core."""
        return self.use(duration_ps * threads, threads)

    def _rates(self, demands: Sequence[int]) -> Sequence[float]:
        return max_min(self.count, demands)
