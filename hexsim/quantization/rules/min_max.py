"""The default ("tf") mode: the encoding spans the entire range."""

from dataclasses import dataclass
from typing import ClassVar

from hexsim.quantization.encodings import MINIMUM_RANGE, Encoding
from hexsim.quantization.observation import Observation


@dataclass(frozen=True)
class MinMax:
    """The asymmetric rule over [low, high], with the formula of `Encoding.from_range`."""

    needs_histogram: ClassVar[bool] = False

    bits: int = 8
    minimum_range: float = MINIMUM_RANGE

    def encode(self, seen: Observation) -> Encoding:
        """Return the encoding that spans all values, zero and at least the minimum range."""
        return Encoding.from_range(seen.low, seen.high, self.bits, self.minimum_range)
