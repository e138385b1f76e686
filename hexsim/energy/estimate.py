"""The division of an energy into parts, each with its interval."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Literal, get_args

from hexsim.datasheets.estimate import Estimate

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


def total(estimates: Iterable[Estimate]) -> Estimate:
    """Add estimates end by end."""
    return sum(estimates, Estimate())


@dataclass(frozen=True)
class Spent:
    """Energy of one layer or overhead, in millijoules by part, without parts of zero."""

    name: str
    parts: Mapping[Part, Estimate]

    @property
    def estimate(self) -> Estimate:
        """All parts together, in millijoules."""
        return total(self.parts.values())

    @property
    def millijoules(self) -> float:
        """All parts together, with the constants as they are stated."""
        return self.estimate.value
