"""The range to which a fused activation limits a layer's output."""

from __future__ import annotations

import math
from dataclasses import dataclass


@dataclass(frozen=True)
class Clamp:
    """Real bounds of an output; infinite where it is not limited."""

    low: float = -math.inf
    high: float = math.inf

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
