"""Evidence: counts that prove losses of quantisation, stored beside the encodings, also in a file.

Encodings show what can be lost, and values show what was lost. The values of activations are not
available after calibration, nor the float weights after quantisation, so the counts that prove a
loss are recorded before. A network without losses has no records.
"""

import math
from dataclasses import dataclass

from hexsim.graph.domains import Count, Natural, Real


@dataclass(frozen=True)
class Survival:
    """How many values of an operand of the concat `layer` are not zero in its output.

    `values` counts those that are not zero in the operand, on the first calibration input;
    `surviving` counts those of them that are not zero after the concat.
    """

    layer: str
    tensor: str
    values: Count
    surviving: Count

    def fault(self) -> str | None:
        """Return what is wrong if more values survive than there are, or none were counted."""
        if not 0 <= self.surviving <= self.values or not self.values:
            return f"counts {self.surviving} of {self.values} values"
        return None


@dataclass(frozen=True)
class UnusedRange:
    """An activation whose values reach from `low` to `high`, in real units, on all inputs."""

    tensor: str
    low: Real
    high: Real

    def fault(self) -> str | None:
        """Return what is wrong if low and high are no range."""
        ordered = math.isfinite(self.low) and math.isfinite(self.high) and self.low <= self.high
        return None if ordered else f"reaches from {self.low:g} to {self.high:g}"


@dataclass(frozen=True)
class DeadChannels:
    """How many channels of `weight` are zero when quantised but not in floats.

    `lost` is their number, `reach` the largest magnitude of their float weights in real units.
    """

    weight: str
    lost: Natural
    reach: Real


@dataclass(frozen=True)
class Evidence:
    """Weights with dead channels, concat operands that lose most values, and unused ranges."""

    dead: tuple[DeadChannels, ...] = ()
    survivals: tuple[Survival, ...] = ()
    unused_ranges: tuple[UnusedRange, ...] = ()


NO_EVIDENCE = Evidence()
