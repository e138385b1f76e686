"""The constants that measurements may move, and their values."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import TypeVar

from hexsim.datasheets.datasheet import Datasheet
from hexsim.datasheets.quantity import Quantity

DatasheetT = TypeVar("DatasheetT", bound=Datasheet)

BOUNDS_ERRORS = 2.0
"""Half the distance between two bounds, in standard deviations of what is known before."""


@dataclass(frozen=True)
class Parameter:
    """One constant with bounds: its dotted path and the chips or stacks that have it."""

    path: str
    datasheets: frozenset[str]
    low: float
    committed: float
    high: float
    unit: str

    @classmethod
    def of(cls, path: str, constant: Quantity, datasheets: frozenset[str]) -> Parameter:
        """Return the constant that all of `datasheets` state with equal values."""
        low, high = constant.low or 0.0, constant.high or math.inf
        return cls(path, datasheets, low, constant.value, high, constant.unit)

    @property
    def label(self) -> str:
        """Its name in tables; only the path for a constant of several datasheets."""
        name, *others = self.datasheets
        return self.path if others else f"{self.path} ({name})"

    @property
    def log_error(self) -> float:
        """Standard deviation of the logarithm by the bounds alone."""
        if self.low > 0:
            return math.log(self.high / self.low) / (2 * BOUNDS_ERRORS)
        return math.log(self.high / self.committed) / BOUNDS_ERRORS

    @property
    def moves(self) -> bool:
        """True if the bounds leave a choice that a factor can express."""
        return self.committed > 0 and self.high < math.inf and self.log_error > 0

    def set(self, datasheet: DatasheetT, value: float) -> DatasheetT:
        """Return the datasheet with the constant at `value`, or unchanged if it has none."""
        if datasheet.name not in self.datasheets:
            return datasheet
        return datasheet.with_value(self.path, value)


Values = Mapping[Parameter, float]
