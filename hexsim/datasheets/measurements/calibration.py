"""The record of the last fit of calibrated constants, written by `python -m benchmarks.calibrate`.

The constants themselves are in the chip and stack files. This record adds how well the
measurements determine them: their standard errors and the correlation of these. It also has
the predictions of every fitted row, in sample and left out, which the documentation prints.
"""

from __future__ import annotations

import functools
import json
import math
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

from hexsim.records import dataclass

if TYPE_CHECKING:
    from hexsim.datasheets.datasheet import Datasheet
    from hexsim.datasheets.quantity import Quantity

FILE = Path(__file__).with_name("calibration.json")

STANDARD_ERRORS = 2.0
"""Half the length of a calibrated constant's interval, in standard errors (95 % of a normal)."""


@dataclass(frozen=True)
class CalibratedConstant:
    """One fitted constant: dotted path, datasheets that state it, standard errors of its logarithm.

    `log_error` takes the bounds inside which it was fitted as two standard deviations of the prior;
    `data_error` is the error from the measurements alone.
    """

    path: str
    datasheets: tuple[str, ...]
    unit: str
    low: float
    value: float
    high: float
    log_error: float
    data_error: float

    @property
    def interval(self) -> tuple[float, float]:
        """The values that measurements and bounds allow, to three digits."""
        factor = math.exp(STANDARD_ERRORS * self.log_error)
        low, high = (float(f"{end:.3g}") for end in (self.value / factor, self.value * factor))
        return max(self.low, low), min(self.high, high)


@dataclass(frozen=True)
class Trade:
    """An assumed constant that changes fitted rows, and its effect on the fit.

    `largest` is the greatest change of a row between its bounds, as a factor. `absorbed` is the
    share of its effect that the calibrated constants can imitate: near 1, the measurements cannot
    distinguish them. `at_low` and `at_high` are the changes of the logarithm of each calibrated
    constant if this one were at that bound.
    """

    path: str
    datasheets: tuple[str, ...]
    largest: float
    absorbed: float
    at_low: tuple[float, ...]
    at_high: tuple[float, ...]

    @property
    def label(self) -> str:
        """Its name in tables: the path, with the datasheet if there is only one."""
        return self.path if len(self.datasheets) > 1 else f"{self.path} ({self.datasheets[0]})"


@dataclass(frozen=True)
class CalibrationRecord:
    """The record of one fit.

    `correlation[i][j]` is that of the errors of constants i and j; `scatter` the mean square of the
    rows' errors relative to the tolerance of each row, at least 1. `columns` names the
    predictions, and `predictions[row]` has one time in ms for each column, or
    None if the column has no prediction of the fitted row. `rows` has the keys of the fitted rows
    (`hexsim.datasheets.measurements.Measurement.key`).
    """

    constants: tuple[CalibratedConstant, ...]
    correlation: tuple[tuple[float, ...], ...]
    scatter: float
    trades: tuple[Trade, ...]
    columns: tuple[str, ...]
    predictions: tuple[tuple[float | None, ...], ...]
    rows: tuple[tuple[str, ...], ...] = ()

    def predicted_ms(self, key: tuple[str, ...], column: str) -> float | None:
        """Return a prediction of the fitted row with this key, None if there is none."""
        at, place = self._places.get(key), self.columns.index(column)
        return None if at is None else self.predictions[at][place]

    @functools.cached_property
    def _places(self) -> dict[tuple[str, ...], int]:
        return {key: at for at, key in enumerate(self.rows)}

    def find(self, datasheet: str, path: str) -> int | None:
        """Return the index of a datasheet's constant, None if it was not fitted."""
        for index, constant in enumerate(self.constants):
            if path == constant.path and datasheet in constant.datasheets:
                return index
        return None

    def stated(self, datasheet: str, path: str, constant: Quantity) -> int | None:
        """Return the index of a constant of a datasheet, None if this value was not fitted.

        A user's own calibration states other values and bounds under the same name.
        """
        index = self.find(datasheet, path) if constant.confidence == "calibrated" else None
        if index is None:
            return None
        fitted = self.constants[index]
        same = (fitted.low, fitted.value, fitted.high) == (
            constant.low,
            constant.value,
            constant.high,
        )
        return index if same else None

    def trade(self, datasheet: str, path: str) -> Trade | None:
        """Return the effect of an assumed constant on the fit, None if it changes no fitted row."""
        for trade in self.trades:
            if path == trade.path and datasheet in trade.datasheets:
                return trade
        return None


@functools.cache
def calibration() -> CalibrationRecord:
    """Read the committed record."""
    document = json.loads(FILE.read_text(encoding="utf-8"))
    return CalibrationRecord(
        tuple(CalibratedConstant(**_frozen(record)) for record in document["constants"]),
        _frozen(document["correlation"]),
        document["scatter"],
        tuple(Trade(**_frozen(record)) for record in document["trades"]),
        _frozen(document["columns"]),
        _frozen(document["predictions"]),
        _frozen(document["rows"]),
    )


def intervals(datasheet: Datasheet) -> Iterator[tuple[str, Quantity, float, float]]:
    """Yield path, constant and interval of every uncertain constant.

    The interval of a calibrated constant is what the fit leaves possible inside its bounds.
    """
    for path, constant in datasheet.quantities():
        if constant.low is None or constant.high is None:
            continue
        index = calibration().stated(datasheet.name, path, constant)
        low, high = constant.low, constant.high
        if index is not None:
            low, high = calibration().constants[index].interval
        if low < high:
            yield path, constant, low, high


def _frozen(node: Any) -> Any:
    if isinstance(node, dict):
        return {key: _frozen(value) for key, value in node.items()}
    return tuple(map(_frozen, node)) if isinstance(node, list) else node
