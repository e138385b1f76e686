"""Constants of a chip or a stack by rows that a user measured, from what the published ones left.

Known before is what the published fit says of calibrated constants: values, errors, and how the
errors go together. Assumed ones are known to their bounds, as two standard deviations, and take the
calibrated ones along as in that fit. The rows then move all constants of the sheet that they read.
Constants of the other sheet are held, and there is no factor for a network.

Of the result a sheet states each constant with an interval of two standard errors. Left out: how
these errors go together, for which a sheet has no room.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Literal

import numpy as np

from hexsim.datasheets.datasheet import Datasheet
from hexsim.datasheets.measurements import Measurement
from hexsim.datasheets.measurements.calibration import STANDARD_ERRORS, calibration
from hexsim.datasheets.quantity import Quantity
from hexsim.deployment.platform import Platform
from hexsim.dlc.loading import load
from hexsim.errors import HexsimError
from hexsim.studies.calibration.constants import Parameter, SheetT
from hexsim.studies.calibration.estimator import (
    Array,
    FittedConstants,
    Prior,
    Problem,
    differences,
    estimate,
    settle,
)
from hexsim.studies.calibration.own_rows import Names, read_rows
from hexsim.studies.calibration.prediction import MeasuredRun, Predictions, weights

Adjust = Literal["stack", "chip", "both"]
ADJUSTABLE: tuple[Adjust, ...] = ("stack", "chip", "both")

_NEARLY_ZERO = 1e-6
"""Lower end, as a share of the value, of a constant whose bounds start at zero."""

_SEEN = 0.002
"""Change of a row's logarithm by one standard deviation, from which a constant counts as read."""

_TOLD = 0.01
"""Change of a constant or of its error, as a logarithm, from which the rows count as telling."""


@dataclass(frozen=True)
class AdjustedConstant:
    """One constant before and after; the errors are standard ones of its logarithm."""

    sheet: str
    path: str
    unit: str
    before: float
    after: float
    error_before: float
    error_after: float

    @property
    def told(self) -> bool:
        """True if the rows say anything of it."""
        moved = abs(math.log(self.after / self.before))
        return moved > _TOLD or math.log(self.error_before / self.error_after) > _TOLD


@dataclass(frozen=True)
class ReportedRow:
    """One measured row with its simulated times in ms.

    `left_out_ms` is by a calibration with the other runs only, None if there are none.
    """

    row: Measurement
    before_ms: float
    after_ms: float
    left_out_ms: float | None


@dataclass(frozen=True)
class OwnCalibration:
    """What rows of a platform say of its constants.

    `constants` are those in doubt, the most changed first. `before` is the platform as it was,
    `after` states what was found. `one_run` holds, with three runs or more, the median relative
    errors that a single run leaves on the others: before it is used, and after, over all choices
    of it.
    """

    before: Platform
    after: Platform
    constants: tuple[AdjustedConstant, ...]
    rows: tuple[ReportedRow, ...]
    one_run: tuple[float, float] | None


def calibrate(
    source: str | Path,
    chip: str | Path,
    stack: str | Path | None = None,
    adjust: Adjust = "stack",
    progress: Callable[[str], None] = lambda what: None,
) -> OwnCalibration:
    """Calibrate the stack, the chip or both by the rows of a CSV file.

    Raises HexsimError for rows that cannot be read or simulated, with file and line, and for rows
    that say nothing of the constants they may move.
    """
    platform = Platform.load(chip, stack)
    loaded = cache(load)
    names = Names(
        frozenset({platform.chip.name, *platform.chip.part_numbers, str(chip)}),
        frozenset({platform.stack.name, str(stack or platform.stack.name)}),
    )
    rows = read_rows(Path(source), platform, names, loaded)
    predictions = Predictions(lambda chip, stack: platform, loaded)
    return _Update(platform, rows, predictions, adjust, Path(source).name, progress).calibration()


class _Update:
    """One calibration: prior, rows, and what follows."""

    def __init__(
        self,
        platform: Platform,
        rows: Sequence[Measurement],
        predictions: Predictions,
        adjust: Adjust,
        source: str,
        progress: Callable[[str], None],
    ) -> None:
        self._platform = platform
        self._rows = rows
        self._source = source
        self._progress = progress
        self._sheets: list[Datasheet] = []
        if adjust in ("stack", "both"):
            self._sheets.append(platform.stack)
        if adjust in ("chip", "both"):
            self._sheets.append(platform.chip)
        self._predictions = predictions
        self._runs = [MeasuredRun.of(row) for row in rows]
        progress("simulating the rows")
        chosen = [p for sheet in self._sheets for p in self._in_doubt(sheet)]
        self._chosen, self._prior, self._slopes = self._seen(chosen)

    def calibration(self) -> OwnCalibration:
        """Run it."""
        self._progress("calibrating")
        everything = list(range(len(self._rows)))
        best = estimate(self._problem(everything), len(set(self._runs)))
        found = self._adjusted(best)
        if not any(one.told for one in found):
            names = " and ".join(sheet.name for sheet in self._sheets)
            raise HexsimError(
                f"{self._source}: the rows say nothing of the constants of {names}; adjust the "
                "other sheet (--adjust), or measure what this one decides"
            )
        platform = self._platform
        after = Platform(self._stated(platform.chip, found), self._stated(platform.stack, found))
        before_ms, after_ms = self._times(self._prior.mean), self._simulated(after)
        return OwnCalibration(
            before=platform,
            after=after,
            constants=tuple(sorted(found, key=lambda one: -abs(math.log(one.after / one.before)))),
            rows=tuple(
                ReportedRow(*one)
                for one in zip(self._rows, before_ms, after_ms, self._left_out(best), strict=True)
            ),
            one_run=self._one_run(before_ms),
        )

    def _in_doubt(self, sheet: Datasheet) -> list[Parameter]:
        """The constants of a sheet that the rows read and that may be others."""
        read = {
            path
            for run in self._runs
            for path, names in self._predictions.read(run).items()
            if sheet.name in names
        }
        return [
            parameter
            for path, constant in sheet.quantities()
            if constant.low is not None
            and (parameter := Parameter.of(path, constant, frozenset({sheet.name}))).moves
            and path in read
        ]

    def _seen(self, chosen: list[Parameter]) -> tuple[list[Parameter], Prior, Array]:
        """Those constants that matter, what is known of them, and the slopes of the rows."""
        prior = self._known(chosen)
        problem = self._problem(list(range(len(self._rows))), chosen, prior)
        slopes = differences(problem, prior.mean)
        errors = np.sqrt(np.diag(np.linalg.inv(prior.precision)))
        keep = np.flatnonzero(np.max(np.abs(slopes), axis=0, initial=0.0) * errors > _SEEN)
        kept = [chosen[at] for at in keep]
        return kept, self._known(kept), slopes[:, keep]

    def _known(self, chosen: Sequence[Parameter]) -> Prior:
        """The prior: the published fit's for what it fitted, bounds for the rest.

        An assumed constant shifts the fitted ones with which it trades, so the two are tied.
        """
        record, sheets = calibration(), {sheet.name: sheet for sheet in self._sheets}
        count = len(chosen)
        precision, fitted = np.zeros((count, count)), {}
        for at, p in enumerate(chosen):
            (name,) = p.sheets
            index = record.stated(name, p.path, dict(sheets[name].quantities())[p.path])
            if index is None:
                precision[at, at] = p.log_error**-2.0
            else:
                fitted[at] = index
        if fitted:
            places, numbers = list(fitted), list(fitted.values())
            errors = np.array([c.log_error for c in record.constants])
            whole = np.linalg.inv(np.array(record.correlation) * np.outer(errors, errors))
            tied = np.zeros((len(places), count))
            tied[range(len(places)), places] = 1.0
            for at in set(range(count)) - set(places):
                tied[:, at] = -self._answer(chosen[at])[numbers]
            precision += tied.T @ whole[np.ix_(numbers, numbers)] @ tied
        middle = np.log([p.committed for p in chosen])
        low = np.log([max(p.low, _NEARLY_ZERO * p.committed) for p in chosen])
        return Prior(middle, precision, low, np.log([p.high for p in chosen]))

    def _answer(self, parameter: Parameter) -> Array:
        """How the published fit's logarithms answer to that of an assumed constant, per unit."""
        (name,) = parameter.sheets
        trade = calibration().trade(name, parameter.path)
        if trade is None:
            return np.zeros(len(calibration().constants))
        if parameter.low > 0:
            step = math.log(parameter.high / parameter.low)
            answer: Array = (np.array(trade.at_high) - np.array(trade.at_low)) / step
        else:
            answer = np.array(trade.at_high) / math.log(parameter.high / parameter.committed)
        return answer

    def _problem(
        self,
        places: Sequence[int],
        chosen: Sequence[Parameter] | None = None,
        prior: Prior | None = None,
    ) -> Problem:
        """The problem that rows at `places` pose; a row errs as much as the published ones do."""
        rows = [self._rows[at] for at in places]
        return Problem(
            predict=lambda logs: np.log(self._times(logs, rows, chosen)),
            measured=np.log([row.latency_ms for row in rows]),
            weights=weights(rows) / math.sqrt(calibration().scatter),
            prior=prior or self._prior,
        )

    def _times(
        self,
        logs: Array,
        rows: Sequence[Measurement] | None = None,
        chosen: Sequence[Parameter] | None = None,
    ) -> list[float]:
        """Simulated times in ms; constants at their stated values cost no new simulation."""
        pairs = zip(self._chosen if chosen is None else chosen, np.exp(logs), strict=True)
        values = {
            p: float(value)
            for p, value in pairs
            if not math.isclose(value, p.committed, rel_tol=1e-9)
        }
        return [self._predictions.ms(row, values) for row in (self._rows if rows is None else rows)]

    def _left_out(self, best: FittedConstants) -> list[float | None]:
        """Time of each row by a calibration without its run."""
        found: list[float | None] = [None] * len(self._rows)
        runs = list(dict.fromkeys(self._runs))
        for number, run in enumerate(runs if len(runs) > 1 else [], 1):
            self._progress(f"leaving out {number} of {len(runs)}")
            seen = [at for at, one in enumerate(self._runs) if one != run]
            logs = settle(self._problem(seen), best.logs, best.slopes[seen])
            times = self._times(logs)
            for at, one in enumerate(self._runs):
                if one == run:
                    found[at] = times[at]
        return found

    def _one_run(self, before: Sequence[float]) -> tuple[float, float] | None:
        """Median errors on the other runs without and with each run by itself."""
        runs = list(dict.fromkeys(self._runs))
        if len(runs) < 3:
            return None
        without, with_one = [], []
        for number, run in enumerate(runs, 1):
            self._progress(f"one run alone, {number} of {len(runs)}")
            seen = [at for at, one in enumerate(self._runs) if one == run]
            logs = settle(self._problem(seen), self._prior.mean, self._slopes[seen])
            times = self._times(logs)
            for at in set(range(len(self._rows))) - set(seen):
                measured = self._rows[at].latency_ms
                without.append(abs(before[at] / measured - 1))
                with_one.append(abs(times[at] / measured - 1))
        return float(np.median(without)), float(np.median(with_one))

    def _adjusted(self, best: FittedConstants) -> list[AdjustedConstant]:
        before = np.sqrt(np.diag(np.linalg.inv(self._prior.precision)))
        columns = zip(self._chosen, np.exp(best.logs), before, best.log_errors, strict=True)
        return [
            AdjustedConstant(
                next(iter(p.sheets)), p.path, p.unit, p.committed, float(value), *errors
            )
            for p, value, *errors in (
                (p, value, float(old), float(new)) for p, value, old, new in columns
            )
        ]

    def _simulated(self, platform: Platform) -> list[float]:
        """Times of the rows in ms on the platform as it is stated."""
        predictions = Predictions(lambda chip, stack: platform, self._predictions.load_model)
        return [predictions.ms(row, {}) for row in self._rows]

    def _stated(self, sheet: SheetT, found: Sequence[AdjustedConstant]) -> SheetT:
        """The sheet with what was found, and with what the published fit left open as bounds."""
        if sheet not in self._sheets:
            return sheet
        moved = {one.path: one for one in found if one.sheet == sheet.name and one.told}
        stated = {}
        for path, constant in sheet.quantities():
            if path in moved:
                stated[path] = self._restated(constant, moved[path])
            elif (index := calibration().stated(sheet.name, path, constant)) is not None:
                low, high = calibration().constants[index].interval
                stated[path] = constant.model_copy(update={"low": low, "high": high})
        return sheet.restated(stated)

    def _restated(self, constant: Quantity, one: AdjustedConstant) -> Quantity:
        assert constant.low is not None
        assert constant.high is not None
        factor = math.exp(STANDARD_ERRORS * one.error_after)
        value = float(f"{one.after:.4g}")
        low, high = (float(f"{end:.3g}") for end in (value / factor, value * factor))
        return Quantity(
            value=value,
            unit=constant.unit,
            source=f"{constant.source}; then calibrated with {self._source}",
            confidence="calibrated",
            low=min(max(low, constant.low), value),
            high=max(min(high, constant.high), value),
        )
