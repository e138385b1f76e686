"""Fits the calibrated constants and says how far the measurements determine them.

    python -m benchmarks.calibrate            fit, then leave networks, chips and HTA rows out
    python -m benchmarks.calibrate --write    the same, and commit the result to the files
    python -m benchmarks.calibrate --no-fit   errors of the constants as they are committed
    python -m benchmarks.calibrate --layers FOLDER      what times of layers say of their release

`--write` states the fitted constants, rounded, in the chip and stack files, keeps the record of
the fit in hexsim/datasheets/measurements/calibration.json and renews the tables of README.md,
docs/results/timing-model.md and docs/reference/constants.md. That of docs/results/benchmark.md
takes longer: `benchmarks.readme`. The fit itself is in `hexsim.studies.calibration`, which
`hexsim calibrate` uses too. A constant that the measurements alone do not determine to a factor of
1.5 is not written: it has to be assumed, and swept.
"""

from __future__ import annotations

import argparse
import json
import math
from collections.abc import Mapping
from dataclasses import asdict, replace
from functools import reduce
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks import layer_constants, timing_model
from benchmarks.calibration_report import constants_table, rows_table, summaries, trades_table
from benchmarks.published_fit import (
    FAMILIES,
    Family,
    Fit,
    data_errors,
    family_rows,
    fit,
    fitted_rows,
    left_out,
    parameters,
    predict_ms,
    trades,
)
from benchmarks.restate import restate
from hexsim.datasheets.measurements import Measurement
from hexsim.datasheets.measurements.calibration import (
    FILE,
    CalibratedConstant,
    CalibrationRecord,
    Trade,
)
from hexsim.files.atomic_write import write_text
from hexsim.studies.calibration.prediction import Values

_CERTAIN = 3
"""Digits to which a fitted constant is stated; its standard error is in the second."""

LARGEST_ERROR = 1.5
"""Standard error by the data alone, as a factor, from which a constant is not calibrated."""

_NOTHING_KNOWN = 50.0
"""Log error that stands for an infinite one in the record."""


def rounded(best: Fit) -> Values:
    """The fitted values as the files state them."""
    return {p: float(f"{value:.{_CERTAIN}g}") for p, value in best.values.items()}


def record(best: Fit, family: Family) -> CalibrationRecord:
    """Everything the documentation prints and `hexsim bench --uncertainty one` needs of a family.

    All CPU rows are of one chip: left out, it leaves nothing to fit, so nothing is said.
    """
    rows, values = family_rows(family), rounded(best)
    on_hta = {row: str(at) for at, row in enumerate(rows) if row.runtime == "hta"}
    columns: dict[str, Mapping[Measurement, float | None]] = {
        "in sample": {row: predict_ms(row, values) for row in rows},
        "network left out": left_out(rows, best, lambda row: row.model),
        "chip left out": left_out(rows, best, lambda row: None if family == "cpu" else row.chip),
        "row left out": left_out(rows, best, on_hta.get),
    }
    estimate = best.estimate
    errors = zip(
        estimate.log_errors, np.minimum(data_errors(estimate), _NOTHING_KNOWN), strict=True
    )
    return CalibrationRecord(
        constants=tuple(
            CalibratedConstant(
                p.path, tuple(sorted(p.datasheets)), p.unit, p.low, value, p.high, *map(float, both)
            )
            for (p, value), both in zip(values.items(), errors, strict=True)
        ),
        correlation=tuple(tuple(map(float, line)) for line in estimate.correlation),
        scatter=estimate.scatter,
        trades=trades(rows, best),
        columns=tuple(columns),
        predictions=tuple(tuple(column[row] for column in columns.values()) for row in rows),
        rows=tuple(row.key for row in rows),
    )


def together(first: CalibrationRecord, other: CalibrationRecord) -> CalibrationRecord:
    """The record of two families: they share no constant, and the larger scatter holds for both."""
    before, behind = (0.0,) * len(first.constants), (0.0,) * len(other.constants)
    apart = [
        *(replace(t, at_low=t.at_low + behind, at_high=t.at_high + behind) for t in first.trades),
        *(replace(t, at_low=before + t.at_low, at_high=before + t.at_high) for t in other.trades),
    ]
    joined: dict[tuple[str, tuple[str, ...]], Trade] = {}
    for trade in sorted(apart, key=lambda trade: -trade.largest):
        key = trade.path, trade.datasheets
        joined[key] = _both(joined[key], trade) if key in joined else trade
    return CalibrationRecord(
        constants=first.constants + other.constants,
        correlation=(
            *(line + behind for line in first.correlation),
            *(before + line for line in other.correlation),
        ),
        scatter=max(first.scatter, other.scatter),
        trades=tuple(joined.values()),
        columns=first.columns,
        predictions=first.predictions + other.predictions,
        rows=first.rows + other.rows,
    )


def _both(larger: Trade, smaller: Trade) -> Trade:
    """What both families make of an assumed constant; figures are of the one that it moves more."""
    low = tuple(map(sum, zip(larger.at_low, smaller.at_low, strict=True)))
    high = tuple(map(sum, zip(larger.at_high, smaller.at_high, strict=True)))
    return replace(larger, at_low=low, at_high=high)


def undetermined(record: CalibrationRecord) -> list[str]:
    """The constants that the measurements alone leave too uncertain."""
    return [c.path for c in record.constants if c.data_error > math.log(LARGEST_ERROR)]


def write(record: CalibrationRecord) -> None:
    """State the constants in their files, and keep the record."""
    assert not undetermined(record), undetermined(record)
    fitted = [parameter for family in FAMILIES for parameter in parameters(family)]
    for parameter, constant in zip(fitted, record.constants, strict=True):
        restate(parameter, constant.value)
    write_text(FILE, json.dumps(_digits(asdict(record)), indent=1) + "\n")


def _digits(node: Any) -> Any:
    """Round the numbers of a document to what is worth keeping."""
    if isinstance(node, dict):
        return {key: _digits(value) for key, value in node.items()}
    if isinstance(node, tuple):
        return [_digits(value) for value in node]
    return float(f"{node:.5g}") if isinstance(node, float) else node


def main() -> None:
    """Fit, print everything, and write it if asked."""
    parser = argparse.ArgumentParser(description="Fit the calibrated constants.")
    choice = parser.add_mutually_exclusive_group()
    choice.add_argument("--no-fit", action="store_true", help="only the committed constants")
    choice.add_argument("--write", action="store_true", help="commit the result to the files")
    choice.add_argument("--layers", type=Path, help="folder of the networks of measured layers")
    arguments = parser.parse_args()
    if arguments.layers is not None:
        print(layer_constants.report(arguments.layers))
        return
    rows = fitted_rows()
    committed = tuple((predict_ms(row, {}),) for row in rows)
    if arguments.no_fit:
        print(rows_table(rows, ("committed",), committed), end="\n\n")
        print(summaries(rows, ("committed",), committed))
        return
    joined = reduce(
        together, (record(fit(family_rows(family), family), family) for family in FAMILIES)
    )
    columns = ("committed", *joined.columns)
    cells = tuple((*old, *new) for old, new in zip(committed, joined.predictions, strict=True))
    before = {p.path: p.committed for family in FAMILIES for p in parameters(family)}
    print(constants_table(joined, before), end="\n\n")
    print(trades_table(joined), end="\n\n")
    print(rows_table(rows, columns, cells), end="\n\n")
    print(summaries(rows, columns, cells))
    if undetermined(joined):
        print(f"\nNot determined by the measurements: {', '.join(undetermined(joined))}")
    if arguments.write:
        write(joined)
        timing_model.write()


if __name__ == "__main__":
    main()
