"""The cost of a layer by a roofline: its arithmetic or its traffic, whichever takes longer."""

from __future__ import annotations

from dataclasses import dataclass

from hexsim.layers import UserDefined
from hexsim.planning.plan import KernelCall
from hexsim.timing.results import Bound
from hexsim.timing.simtime import seconds_to_ps
from hexsim.udl import Cost, Processor


@dataclass(frozen=True)
class LayerCost:
    """Seconds of arithmetic, of memory traffic, and of starting the layer."""

    compute_s: float
    memory_s: float
    start_s: float

    def times(self, factor: float) -> LayerCost:
        """Return `factor` times the cost."""
        return LayerCost(self.compute_s * factor, self.memory_s * factor, self.start_s * factor)

    @property
    def duration_ps(self) -> int:
        """The duration; arithmetic and traffic overlap, the start does not."""
        return seconds_to_ps(max(self.compute_s, self.memory_s) + self.start_s)

    @property
    def parts_ps(self) -> dict[Bound, float]:
        """The duration, divided: the longer of arithmetic and traffic hides the other."""
        longer: Bound = "compute" if self.compute_s >= self.memory_s else "ddr"
        start_ps = seconds_to_ps(self.start_s)
        return {longer: self.duration_ps - start_ps, "overhead": start_ps}


def stated_cost(call: KernelCall, processor: Processor) -> Cost | None:
    """Return the cost of a call that a user-defined layer states, None if there is none."""
    if not isinstance(call.layer, UserDefined):
        return None
    return call.layer.cost(processor, call.operands, call.results)
