"""Moments: how large and how far from zero the values of a tensor are expected to be.

The builder carries them from tensor to tensor so that every layer's weights can be drawn at
the scale that keeps the next activation in range, and every batch norm's statistics agree
with what it will see, all before a single weight exists. One mean and one standard deviation
per tensor; values are taken as normal, neighbours as independent where nothing else is said.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Moments:
    """Expected mean and standard deviation of a tensor over pixels, channels and inputs."""

    mean: float
    std: float

    @property
    def power(self) -> float:
        """Expected square."""
        return self.mean**2 + self.std**2

    def relu(self) -> Moments:
        """Moments of max(x, 0) for normal x, in closed form."""
        t = self.mean / self.std
        density = math.exp(-0.5 * t * t) / math.sqrt(2 * math.pi)
        below = 0.5 * (1 + math.erf(t / math.sqrt(2)))
        mean = self.mean * below + self.std * density
        power = self.power * below + self.mean * self.std * density
        return Moments(mean, math.sqrt(power - mean**2))

    def plus(self, other: Moments) -> Moments:
        """Moments of the sum of two independent tensors."""
        return Moments(self.mean + other.mean, math.hypot(self.std, other.std))


def mixture(parts: Sequence[tuple[int, Moments]]) -> Moments:
    """Moments of tensors joined along an axis, as (how many channels, moments) pairs."""
    total = sum(count for count, _ in parts)
    mean = sum(count * part.mean for count, part in parts) / total
    power = sum(count * part.power for count, part in parts) / total
    return Moments(mean, math.sqrt(power - mean**2))
