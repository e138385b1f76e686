"""An energy with its interval, and its division into parts."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Literal, get_args

Part = Literal[
    "vector packets",
    "scalar packets",
    "macs",
    "l2",
    "vtcm",
    "ddr",
    "leakage",
    "clock tree",
    "cpu",
    "gpu",
]
PARTS: tuple[Part, ...] = get_args(Part)


@dataclass(frozen=True)
class EnergyEstimate:
    """An energy with all constants as stated, at their lower ends and at their upper ends.

    It is unlikely that all constants lie at the same end, so the interval is wide. It has no
    probability.
    """

    value: float = 0.0
    low: float = 0.0
    high: float = 0.0

    def __add__(self, other: EnergyEstimate) -> EnergyEstimate:
        return EnergyEstimate(
            self.value + other.value, self.low + other.low, self.high + other.high
        )

    def __mul__(self, factor: float) -> EnergyEstimate:
        return EnergyEstimate(self.value * factor, self.low * factor, self.high * factor)


def total(estimates: Iterable[EnergyEstimate]) -> EnergyEstimate:
    """Add estimates end by end."""
    return sum(estimates, EnergyEstimate())


@dataclass(frozen=True)
class Spent:
    """Energy of one layer or overhead, in millijoules by part, without parts of zero."""

    name: str
    parts: Mapping[Part, EnergyEstimate]

    @property
    def estimate(self) -> EnergyEstimate:
        """All parts together, in millijoules."""
        return total(self.parts.values())

    @property
    def millijoules(self) -> float:
        """All parts together, with the constants as they are stated."""
        return self.estimate.value
