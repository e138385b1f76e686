"""What the published times of layers say of the constants of their release.

`python -m benchmarks.calibrate --layers FOLDER` prints it. FOLDER has the networks of
layer_latency.csv as ONNX files. The constants of the stack that come from these times are fitted to
them; all layers of a network on a runtime together count as one row. A class of layers is left out
at a time. Only constants whose standard error by the data alone is below a factor of 1.5 are
determined.
"""

from __future__ import annotations

import csv
import io
import math
import statistics
import tempfile
from collections.abc import Sequence
from functools import cache
from pathlib import Path

import numpy as np

from benchmarks.measured import layers as published
from benchmarks.published_fit import bounds_prior, data_errors
from hexsim.datasheets.measurements import MeasuredLayer
from hexsim.deployment.platform import Platform
from hexsim.dlc.loading import load
from hexsim.reports.text import quantity, table
from hexsim.studies.calibration.estimator import Problem, estimate, settle
from hexsim.studies.calibration.own_rows import LAYER_COLUMNS, Names, read_layers
from hexsim.studies.calibration.prediction import (
    MeasuredRun,
    Parameter,
    Predictions,
    Values,
    group,
    weights,
)

LARGEST_ERROR = 1.5
"""Standard error by the data alone, as a factor, from which a constant is not determined."""

_SMALLEST = 1e-3
"""Lower end, as a share of the value, of bounds that begin at zero."""


def report(folder: Path) -> str:
    """Return the constants and the errors of classes, before, in sample and left out."""
    first = published.layer_rows()[0]
    platform = Platform.load(first.chip, first.stack)
    rows = _rows(folder, platform)
    fitted = _Layers(platform, rows)
    return f"{fitted.constants()}\n\n{fitted.classes()}"


def _rows(folder: Path, platform: Platform) -> list[MeasuredLayer]:
    """Return the layers of the package, with their networks from `folder`."""
    source = Path(published.__file__).with_name("layer_latency.csv")
    records = list(csv.DictReader(io.StringIO(source.read_text(encoding="utf-8"))))
    for record in records:
        record["network"] = str((folder / record["network"]).resolve())
    text = io.StringIO()
    writer = csv.DictWriter(text, [name for name in LAYER_COLUMNS if name in records[0]])
    writer.writeheader()
    writer.writerows(records)
    names = Names(frozenset({platform.chip.name}), frozenset({platform.stack.name}))
    with tempfile.TemporaryDirectory() as temporary:
        file = Path(temporary) / "layers.csv"
        file.write_text(text.getvalue(), encoding="utf-8")
        return read_layers(file, platform, names, cache(load))


class _Layers:
    """The fit of the assumed constants of a stack to layers."""

    def __init__(self, platform: Platform, rows: Sequence[MeasuredLayer]) -> None:
        self._rows = rows
        self._predictions = Predictions(lambda chip, stack: platform, cache(load))
        read = {path for run in map(MeasuredRun.of, rows) for path in self._predictions.read(run)}
        self._chosen = [
            Parameter.of(path, constant, frozenset({platform.stack.name}))
            for path, constant in platform.stack.quantities()
            if constant.confidence in ("assumed", "calibrated") and path in read
            if "layer_latency.csv" in constant.source
        ]
        self._best = estimate(self._problem(rows), len(rows))

    def constants(self) -> str:
        """Return each constant with its error by the data alone."""
        lines = []
        columns = zip(self._chosen, np.exp(self._best.logs), data_errors(self._best), strict=True)
        for p, value, error in columns:
            factor = f"x/ {math.exp(error):.2f}" if error < math.log(100) else "unknown"
            verdict = "yes" if error < math.log(LARGEST_ERROR) else "no"
            lines.append(
                (p.path, quantity(p.committed, p.unit), quantity(value, p.unit), factor, verdict)
            )
        header = ("constant", "committed", "fitted", "by data alone", "determined")
        return table(header, lines, left=frozenset({0}))

    def classes(self) -> str:
        """Return the median errors of each class of layers on each runtime."""
        values = self._values(self._best.logs)
        lines = []
        for name in dict.fromkeys(map(group, self._rows)):
            members = [row for row in self._rows if group(row) == name]
            others = [at for at, row in enumerate(self._rows) if group(row) != name]
            problem = self._problem([self._rows[at] for at in others])
            without = self._values(settle(problem, self._best.logs, self._best.slopes[others]))
            errors = (self._error(members, v) for v in ({}, values, without))
            lines.append((name[0].runtime, name[1], str(len(members)), *errors))
        header = ("runtime", "class of layer", "layers", "committed", "in sample", "left out")
        return table(header, lines, left=frozenset({0, 1}))

    def _problem(self, rows: Sequence[MeasuredLayer]) -> Problem:
        prior = bounds_prior(
            [p if p.low > 0 else _above_zero(p) for p in self._chosen],
        )
        return Problem(
            predict=lambda logs: self._predictions.logs(rows, self._values(logs)),
            measured=np.log([row.latency_ms for row in rows]),
            weights=weights(rows),
            prior=prior,
        )

    def _values(self, logs: np.ndarray) -> Values:
        return dict(zip(self._chosen, map(float, np.exp(logs)), strict=True))

    def _error(self, rows: Sequence[MeasuredLayer], values: Values) -> str:
        errors = [abs(self._predictions.ms(row, values) / row.latency_ms - 1) for row in rows]
        return f"{statistics.median(errors):.0%}"


def _above_zero(p: Parameter) -> Parameter:
    low = _SMALLEST * p.committed
    return Parameter(p.path, p.datasheets, low, p.committed, p.high, p.unit)
