"""A figure with an interval: all constants at their lower ends, and all at their upper ends."""

from __future__ import annotations

from dataclasses import dataclass

from hexsim.datasheets.quantity import Quantity


@dataclass(frozen=True)
class Estimate:
    """A positive figure with all constants as stated, at their lower and at their upper ends.

    It is unlikely that all constants lie at the same end, so the interval is wide. It has no
    probability.
    """

    value: float = 0.0
    low: float = 0.0
    high: float = 0.0

    @classmethod
    def of(cls, constant: Quantity) -> Estimate:
        """Return a constant with its bounds, if it has any."""
        value, low, high = constant.value, constant.low, constant.high
        return cls(value, value if low is None else low, value if high is None else high)

    @classmethod
    def exactly(cls, value: float) -> Estimate:
        """Return a figure that no uncertain constant enters."""
        return cls(value, value, value)

    def __add__(self, other: Estimate | float) -> Estimate:
        if not isinstance(other, Estimate):
            other = Estimate.exactly(other)
        return Estimate(self.value + other.value, self.low + other.low, self.high + other.high)

    def __mul__(self, other: Estimate | float) -> Estimate:
        if not isinstance(other, Estimate):
            other = Estimate.exactly(other)
        return Estimate(self.value * other.value, self.low * other.low, self.high * other.high)

    def inverse(self) -> Estimate:
        """Return one divided by it."""
        return Estimate(1 / self.value, 1 / self.high, 1 / self.low)
