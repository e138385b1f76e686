"""Evidence: what values prove to be lost, kept beside the encodings, also in a file.

Encodings tell what can be lost, values what was. Values are gone after calibration, and floats of
weights once they are codes. So the few counts that prove a loss are kept. A network without such
losses keeps nothing.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

from hexsim.graph.domains import Count, Natural, Real


@dataclass(frozen=True)
class Survival:
    """Of `values` of an operand of the concat `layer`, `surviving` have a code other than zero.

    The values are those of the first calibration input whose own codes are not zero.
    """

    layer: str
    tensor: str
    values: Count
    surviving: Count

    def fault(self) -> str | None:
        """Say that more survive than there are, or that nothing was counted, if so."""
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
        """Say that its ends are none, if so."""
        ordered = math.isfinite(self.low) and math.isfinite(self.high) and self.low <= self.high
        return None if ordered else f"reaches from {self.low:g} to {self.high:g}"


@dataclass(frozen=True)
class DeadChannels:
    """Of the channels of `weight` with codes of zero only, `lost` are not dead in floats.

    Their float weights reach `reach`, in real units.
    """

    weight: str
    lost: Natural
    reach: Real


@dataclass(frozen=True)
class Evidence:
    """Operands of which few values survive, activations that leave most codes unused, and weights
    with dead channels.
    """

    dead: tuple[DeadChannels, ...] = ()
    survivals: tuple[Survival, ...] = ()
    unused_ranges: tuple[UnusedRange, ...] = ()


NO_EVIDENCE = Evidence()
