"""Adjusted weights: one end of the range is moved outwards until zero is a code.

The default mode makes zero a code (a quantised value) by shifting the range, which cuts up to half
a step off one end. Here one end is not changed and the other is moved outwards, so that no weight
saturates. The step is the smallest one with this property.

An approximation: the SNPE guide says only that this mode is for 8-bit weights, that max is pushed
up or min pushed down, and that it was tried on denoising networks. The algorithm is not public;
this is the simplest reading of that sentence.
"""

import math
from dataclasses import dataclass
from typing import ClassVar

from hexsim.quantization.encodings import MINIMUM_RANGE, Encoding
from hexsim.quantization.observation import Observation


@dataclass(frozen=True)
class Adjusted:
    """The asymmetric 8-bit rule over a range that is widened to hold every value."""

    needs_histogram: ClassVar[bool] = False

    minimum_range: float = MINIMUM_RANGE

    def encode(self, seen: Observation) -> Encoding:
        """Choose the zero point with the smallest step that loses neither end."""
        default = Encoding.from_range(seen.low, seen.high, minimum_range=self.minimum_range)
        low, high = min(0.0, seen.low), max(0.0, seen.high)
        high = max(high, low + self.minimum_range)
        # The best zero point is next to the exact position of zero, which has a rounding error.
        below = math.floor(-low / default.delta)
        points = range(max(below - 1, 0), min(below + 1, default.steps) + 1)
        delta, zero_point = min((_step(low, high, z, default.steps), z) for z in points)
        top = delta * (default.steps - zero_point)
        return Encoding(default.bitwidth, -delta * zero_point, top, delta, -zero_point)


def _step(low: float, high: float, zero_point: int, steps: int) -> float:
    """Return the smallest step with which codes 0 .. steps reach both ends, or infinity."""
    below, above = (
        0.0 if not reach else reach / codes if codes else math.inf
        for reach, codes in ((-low, zero_point), (high, steps - zero_point))
    )
    return max(below, above)
