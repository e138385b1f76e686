"""The big cores of the CPU, shared by all that the simulation runs on them.

A thread uses at most one core. If there are more threads than cores, they share the cores evenly,
as under a fair scheduler. The CPU runtime uses all cores, a conversion or a copy one.

Left out: the small cores, which would do some of this work, and other processes.
"""

from collections.abc import Sequence

from hexsim.timing.fluid import SharedRate, Sojourn, max_min
from hexsim.timing.simtime import Environment


class HostCores(SharedRate[int]):
    """The cores of one CPU; `count` is infinite if the chip does not state it."""

    def __init__(self, env: Environment, count: float) -> None:
        super().__init__(env)
        self.count = count

    def run(self, duration_ps: int, threads: int = 1) -> Sojourn[int]:
        """Run work that takes `duration_ps` if each of its threads has a core."""
        return self.use(duration_ps * threads, threads)

    def _rates(self, demands: Sequence[int]) -> Sequence[float]:
        return max_min(self.count, demands)
