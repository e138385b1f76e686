"""What the last fit of the calibrated constants found; written by `python -m benchmarks.calibrate`.

The constants themselves are stated by the chip and stack files. This record adds how well the
measurements determine them: a standard error each, and how the errors go together. Kept are also
the predictions of every fitted row, in sample and left out, which the documentation prints.
"""

from __future__ import annotations

import functools
import json
import math
from dataclasses import dataclass
from pathlib import Path
from typing import Any

FILE = Path(__file__).with_name("calibration.json")

STANDARD_ERRORS = 2.0
"""Half the length of a calibrated constant's interval, in standard errors (95 % of a normal)."""


@dataclass(frozen=True)
class Calibrated:
    """One fitted constant: dotted path, the sheets that state it, standard errors of its log.

    `log_error` takes the bounds, inside which it was fitted, as two standard deviations of what
    was known before; `data_error` is what the measurements alone would leave.
    """

    path: str
    sheets: tuple[str, ...]
    unit: str
    low: float
    value: float
    high: float
    log_error: float
    data_error: float

    @property
    def interval(self) -> tuple[float, float]:
        """The values that measurements and bounds leave possible."""
        factor = math.exp(STANDARD_ERRORS * self.log_error)
        return max(self.low, self.value / factor), min(self.high, self.value * factor)


@dataclass(frozen=True)
class Calibration:
    """The record of one fit.

    `correlation[i][j]` is that of the errors of constants i and j; `columns` names the
    predictions, and `predictions[row]` holds one time in ms for each, row being a fitted row.
    """

    constants: tuple[Calibrated, ...]
    correlation: tuple[tuple[float, ...], ...]
    trades: tuple[dict[str, Any], ...]
    columns: tuple[str, ...]
    predictions: tuple[tuple[float, ...], ...]

    def find(self, sheet: str, path: str) -> int | None:
        """Return the index of a sheet's constant, None if it was not fitted."""
        for index, constant in enumerate(self.constants):
            if path == constant.path and sheet in constant.sheets:
                return index
        return None


@functools.cache
def calibration() -> Calibration:
    """Read the committed record."""
    document = json.loads(FILE.read_text(encoding="utf-8"))
    return Calibration(
        tuple(
            Calibrated(**{**record, "sheets": tuple(record["sheets"])})
            for record in document["constants"]
        ),
        tuple(map(tuple, document["correlation"])),
        tuple(document["trades"]),
        tuple(document["columns"]),
        tuple(map(tuple, document["predictions"])),
    )
