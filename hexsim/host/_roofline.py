"""The roofline: a layer takes as long as its arithmetic or its traffic, whichever is longer."""

from __future__ import annotations

from dataclasses import dataclass

from hexsim.results import Bound
from hexsim.simtime import seconds_to_ps


@dataclass(frozen=True)
class Roofline:
    """Seconds of arithmetic, of memory traffic, and of starting the layer."""

    compute_s: float
    memory_s: float
    start_s: float

    @property
    def duration_ps(self) -> int:
        """Arithmetic and traffic overlap, the start does not."""
        return seconds_to_ps(max(self.compute_s, self.memory_s) + self.start_s)

    @property
    def bound(self) -> Bound:
        """What the layer spends most of its time on."""
        if self.start_s > max(self.compute_s, self.memory_s):
            return "overhead"
        return "compute" if self.compute_s >= self.memory_s else "ddr"
