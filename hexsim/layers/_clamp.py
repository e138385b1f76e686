"""The range to which a fused activation limits a layer's output."""

from __future__ import annotations

import math
from dataclasses import dataclass

from hexsim.graph.domains import Bound


@dataclass(frozen=True)
class Clamp:
    """Real bounds of an output; infinite where it is not limited."""

    low: Bound = -math.inf
    high: Bound = math.inf

    def fault(self) -> str | None:
        """Return a fault if its bounds exclude all values."""
        return None if self.low <= self.high else f"clamps to {self.low:g} .. {self.high:g}"

    def then(self, other: Clamp) -> Clamp:
        """Return the clamp that applies this one and then `other`."""
        return Clamp(
            min(max(self.low, other.low), other.high), max(min(self.high, other.high), other.low)
        )

    @property
    def limits(self) -> bool:
        """True if it can change a value."""
        return math.isfinite(self.low) or math.isfinite(self.high)


NO_CLAMP = Clamp()
RELU = Clamp(low=0.0)
RELU6 = Clamp(0.0, 6.0)
