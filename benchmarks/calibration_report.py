"""The tables of a calibration: constants, what cannot be told apart, every row."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from itertools import chain

import numpy as np

from benchmarks.published_fit import FAMILIES
from hexsim.datasheets import measurements
from hexsim.datasheets.measurements.calibration import CalibrationRecord
from hexsim.reports.text import quantity, table

Cells = Sequence[Sequence[float | None]]

_TIED = 0.5
"""Correlation from which a constant is called tied to another."""


def constants_table(record: CalibrationRecord, committed: Mapping[str, float] | None = None) -> str:
    """Return each constant with its uncertainty and the constant it is most tied to.

    `one sigma` is a factor, with the bounds as prior knowledge; `by data alone` is without them.
    """
    correlation = np.array(record.correlation)
    header = ["constant", "bounds", "fitted", "one sigma", "by data alone", "tied to"]
    lines = []
    for index, constant in enumerate(record.constants):
        row = correlation[index].copy()
        row[index] = 0.0
        other = int(np.argmax(np.abs(row)))
        line = [
            constant.path,
            f"{quantity(constant.low, constant.unit)} .. {quantity(constant.high, constant.unit)}",
            quantity(constant.value, constant.unit),
            _factor(constant.log_error),
            _factor(constant.data_error),
            f"{record.constants[other].path} ({row[other]:+.2f})"
            if abs(row[other]) > _TIED
            else "",
        ]
        if committed is not None:
            line.insert(2, quantity(committed[constant.path], constant.unit))
        lines.append(line)
    if committed is not None:
        header.insert(2, "committed")
    constants = table(header, lines, left=frozenset({0, 1, len(header) - 1}))
    return f"{constants}\n\n{_weakest(record)}"


def _weakest(record: CalibrationRecord) -> str:
    """Say which combination of constants is known least."""
    errors = np.array([constant.log_error for constant in record.constants])
    values, vectors = np.linalg.eigh(np.array(record.correlation) * np.outer(errors, errors))
    weakest = vectors[:, -1] * np.sign(vectors[np.argmax(np.abs(vectors[:, -1])), -1])
    parts = sorted(zip(weakest, record.constants, strict=True), key=lambda part: -abs(part[0]))
    named = (f"{part:+.2f} {constant.path}" for part, constant in parts if abs(part) > 0.2)
    spread = _factor(math.sqrt(values[-1]))
    return f"Least known combination of logarithms, {spread}: {', '.join(named)}"


def trades_table(record: CalibrationRecord) -> str:
    """Return the assumed constants that move rows, and how far the fitted ones imitate them."""
    header = ("assumed constant", "largest change of a row", "imitated by the calibrated ones")
    rows = [
        (trade.label, f"x {trade.largest:.2f}", f"{trade.absorbed:.0%}") for trade in record.trades
    ]
    return table(header, rows)


def rows_table(
    rows: Sequence[measurements.Measurement], columns: Sequence[str], cells: Cells
) -> str:
    """Return a line per row: measured, then prediction and error per column that has any."""
    shown = [at for at in range(len(columns)) if any(line[at] is not None for line in cells)]
    header = ("chip", "runtime", "network", "figure", "measured", *(columns[at] for at in shown))
    lines = []
    for row, predicted in zip(rows, cells, strict=True):
        errors = (
            "" if ms is None else f"{ms:.2f} ({ms / row.latency_ms - 1:+.0%})"
            for ms in (predicted[at] for at in shown)
        )
        figure = "forward" if row.forward else "total"
        lines.append((row.chip, row.runtime, row.model, figure, f"{row.latency_ms:g}", *errors))
    return table(header, lines, left=frozenset({0, 1, 2, 3}))


def summaries(
    rows: Sequence[measurements.Measurement], columns: Sequence[str], cells: Cells
) -> str:
    """Return median and largest absolute error per column and runtime."""
    lines = []
    for number, name in enumerate(columns):
        for runtime in chain(*FAMILIES.values()):
            errors = [
                abs(ms / row.latency_ms - 1)
                for row, predicted in zip(rows, cells, strict=True)
                if row.runtime == runtime and (ms := predicted[number]) is not None
            ]
            if errors:
                middle, worst = np.median(errors), max(errors)
                lines.append((name, runtime, f"{middle:.0%}", f"{worst:.0%}", str(len(errors))))
    header = ("prediction", "runtime", "median error", "largest", "rows")
    return table(header, lines, left=frozenset({0, 1}))


def _factor(log_error: float) -> str:
    return f"x/ {math.exp(log_error):.2f}" if log_error < math.log(100) else "unknown"
