"""Symmetric weights: signed codes around zero, step = limit / (2^(bits-1) - 1).

Source: the SNPE guide's three-channel example (min is -2^(bits-1) steps, max 2^(bits-1) - 1 steps;
documented) and AIMET's non-strict symmetric rule (the divisor; documented). AIMET 2.42 also uses
the lowest code where the largest magnitude is negative; that is left out.
"""

from dataclasses import dataclass
from typing import ClassVar

from hexsim.quantization.encodings import MINIMUM_RANGE, Encoding
from hexsim.quantization.observation import Observation


@dataclass(frozen=True)
class Symmetric:
    """The symmetric rule over the largest magnitude."""

    needs_histogram: ClassVar[bool] = False

    bits: int = 8
    minimum_range: float = MINIMUM_RANGE

    def encode(self, seen: Observation) -> Encoding:
        """Return the encoding that spans the largest magnitude."""
        return Encoding.symmetric_of(self.limit(seen), self.bits)

    def limit(self, seen: Observation) -> float:
        """Return the largest magnitude, after raising the upper end to the minimum range."""
        low, high = min(0.0, seen.low), max(0.0, seen.high)
        return max(-low, high, low + self.minimum_range)
