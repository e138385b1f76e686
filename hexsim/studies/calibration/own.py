"""Calibrate the constants of a chip or a stack by rows that a user measured.

The prior is the published fit of calibrated constants: values, errors and their correlation.
Assumed constants have their bounds as two standard deviations, and shift the calibrated ones as in
that fit. The rows then move all constants of the datasheet that they depend on. Constants of the
other datasheet are fixed, and there is no factor for a network.

The resulting datasheet states each constant with an interval of two standard errors. Left out: the
correlation of these errors, which a datasheet cannot state.
"""

import math
from collections.abc import Sequence
from functools import cache
from pathlib import Path
from typing import Literal, cast

import numpy as np
from msgspec import structs

from hexsim.datasheets.datasheet import Datasheet, datasheet_text
from hexsim.datasheets.measurements import MeasuredLayer, Measurement
from hexsim.datasheets.measurements.calibration import STANDARD_ERRORS, calibration
from hexsim.datasheets.quantity import Quantity
from hexsim.deployment.platform import Platform
from hexsim.dlc.loading import load
from hexsim.errors import HexsimError, spelled, step
from hexsim.results.calibration import (
    CalibratedConstant,
    CalibratedFigure,
    CalibratedRow,
    Calibration,
    OneRunAlone,
)
from hexsim.runtimes import Runtime
from hexsim.studies.calibration.estimator import (
    Array,
    FittedConstants,
    Prior,
    Problem,
    differences,
    estimate,
    settle,
)
from hexsim.studies.calibration.own_rows import Names, read_layers, read_rows
from hexsim.studies.calibration.prediction import (
    DatasheetT,
    MeasuredRun,
    Parameter,
    Predictions,
    group,
    weights,
)

Adjust = Literal["stack", "chip", "both"]

_NEARLY_ZERO = 1e-6
"""Lower end, as a share of the value, of a constant whose bounds start at zero."""

_SEEN = 0.002
"""Change of a row's logarithm by one standard deviation, from which a constant is fitted."""

_INFORMATIVE = 0.01
"""Change of a constant or of its error, as a logarithm, from which the rows inform about it."""


def calibrate(
    source: str | Path | None,
    chip: str | Path,
    stack: str | Path | None = None,
    adjust: Adjust = "stack",
    layers: Path | None = None,
) -> tuple[Calibration, Platform]:
    """Calibrate the stack, the chip or both by the rows of a CSV file; return also the platform.

    With three runs or more it is told what a calibration with a single run does to the others, over
    all choices of it. `layers` is a file in the format of layer_latency.csv, with times of single
    layers; `source` may then be None.

    Raises HexsimError for rows that cannot be read or simulated, with file and line, and for rows
    that do not depend on the constants to adjust.
    """
    platform = Platform.load(chip, stack)
    loaded = cache(load)
    names = Names(
        frozenset({platform.chip.name, *platform.chip.part_numbers, str(chip)}),
        frozenset({platform.stack.name, str(stack or platform.stack.name)}),
    )
    if source is None and layers is None:
        raise HexsimError(
            f"there is nothing to calibrate with; give measured rows, or {spelled('layers')}"
        )
    rows: list[Measurement] = []
    if source is not None:
        rows += read_rows(Path(source), platform, names, loaded)
    if layers is not None:
        rows += read_layers(layers, platform, names, loaded)
    predictions = Predictions(lambda chip, stack: platform, loaded)
    files = " and ".join(Path(file).name for file in (source, layers) if file is not None)
    return _Update(platform, rows, predictions, adjust, files).calibration()


class _Update:
    def __init__(
        self,
        platform: Platform,
        rows: Sequence[Measurement],
        predictions: Predictions,
        adjust: Adjust,
        source: str,
    ) -> None:
        self._platform = platform
        self._rows = rows
        self._source = source
        self._datasheets: list[Datasheet] = []
        if adjust in ("stack", "both"):
            self._datasheets.append(platform.stack)
        if adjust in ("chip", "both"):
            self._datasheets.append(platform.chip)
        self._predictions = predictions
        self._runs = [MeasuredRun.of(row) for row in rows]
        step("simulating the rows")
        chosen = [p for datasheet in self._datasheets for p in self._in_doubt(datasheet)]
        prior = self._known(chosen)
        problem = self._problem(list(range(len(self._rows))), chosen, prior)
        slopes = differences(problem, prior.mean)
        errors = np.sqrt(np.diag(np.linalg.inv(prior.precision)))
        columns = np.flatnonzero(np.max(np.abs(slopes), axis=0, initial=0.0) * errors > _SEEN)
        moving = [chosen[at] for at in columns]
        self._chosen, self._prior, self._slopes = (moving, self._known(moving), slopes[:, columns])

    def calibration(self) -> tuple[Calibration, Platform]:
        step("calibrating")
        everything = list(range(len(self._rows)))
        best = estimate(self._problem(everything), len(set(self._runs)))
        constants = self._adjusted(best)
        if not any(constant.reported for constant in constants):
            names = " and ".join(datasheet.name for datasheet in self._datasheets)
            raise HexsimError(
                f"{self._source}: the rows say nothing of the constants of {names}; adjust the "
                f"other datasheet ({spelled('adjust')}), or measure what this one decides"
            )
        platform = self._platform
        after = Platform(
            self._stated(platform.chip, constants), self._stated(platform.stack, constants)
        )
        before_ms, after_ms = self._times(self._prior.mean), self._simulated(after)
        times = zip(self._rows, before_ms, after_ms, self._left_out(best), strict=True)
        calibrated_with = f", calibrated with {self._source}"
        answer = Calibration(
            chip=platform.chip.name,
            stack=platform.stack.name,
            constants=tuple(constants),
            measured=tuple(_reported(*row) for row in times),
            one_run_alone=self._one_run(before_ms),
            chip_toml=datasheet_text(after.chip, after.chip.title + calibrated_with),
            stack_toml=datasheet_text(after.stack, after.stack.title + calibrated_with),
        )
        return answer, after

    def _in_doubt(self, datasheet: Datasheet) -> list[Parameter]:
        """Return the uncertain constants of a datasheet that the rows depend on."""
        paths_read = {
            path
            for run in self._runs
            for path, names in self._predictions.read(run).items()
            if datasheet.name in names
        }
        return [
            parameter
            for path, constant in datasheet.quantities()
            if constant.low is not None
            and (parameter := Parameter.of(path, constant, frozenset({datasheet.name}))).moves
            and path in paths_read
        ]

    def _known(self, chosen: Sequence[Parameter]) -> Prior:
        """Return the prior: the published fit for fitted constants, bounds for the others.

        An assumed constant shifts the fitted ones with which it trades, so they are correlated.
        """
        record, by_name = calibration(), {known.name: known for known in self._datasheets}
        count = len(chosen)
        precision, fitted = np.zeros((count, count)), {}
        for at, p in enumerate(chosen):
            (name,) = p.datasheets
            index = record.stated(name, p.path, dict(by_name[name].quantities())[p.path])
            if index is None:
                precision[at, at] = p.log_error**-2.0
            else:
                fitted[at] = index
        if fitted:
            places, numbers = list(fitted), list(fitted.values())
            errors = np.array([c.log_error for c in record.constants])
            covariance = np.linalg.inv(np.array(record.correlation) * np.outer(errors, errors))
            ties = np.zeros((len(places), count))
            ties[range(len(places)), places] = 1.0
            for at in set(range(count)) - set(places):
                ties[:, at] = -self._answer(chosen[at])[numbers]
            precision += ties.T @ covariance[np.ix_(numbers, numbers)] @ ties
        middle = np.log([p.committed for p in chosen])
        low = np.log([max(p.low, _NEARLY_ZERO * p.committed) for p in chosen])
        return Prior(middle, precision, low, np.log([p.high for p in chosen]))

    def _answer(self, parameter: Parameter) -> Array:
        """Return the change of the published fit's logarithms per unit of an assumed one's."""
        (name,) = parameter.datasheets
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
        """Return the problem of the rows at `places`, with the scatter of the published rows."""
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
        """Return simulated times in ms; constants at their stated values need no simulation."""
        pairs = zip(self._chosen if chosen is None else chosen, np.exp(logs), strict=True)
        values = {
            p: float(value)
            for p, value in pairs
            if not math.isclose(value, p.committed, rel_tol=1e-9)
        }
        return [self._predictions.ms(row, values) for row in (self._rows if rows is None else rows)]

    def _left_out(self, best: FittedConstants) -> list[float | None]:
        """Return the time of each row by a calibration without its run, or its class of layers."""
        times_ms: list[float | None] = [None] * len(self._rows)
        groups = [group(row) for row in self._rows]
        names = list(dict.fromkeys(groups))
        for number, name in enumerate(names if len(names) > 1 else [], 1):
            step(f"leaving out {number} of {len(names)}")
            other_rows = [at for at, row_group in enumerate(groups) if row_group != name]
            logs = settle(self._problem(other_rows), best.logs, best.slopes[other_rows])
            times = self._times(logs)
            for at, row_group in enumerate(groups):
                if row_group == name:
                    times_ms[at] = times[at]
        return times_ms

    def _one_run(self, before: Sequence[float]) -> OneRunAlone | None:
        """Return median errors on the other runs without and with a calibration by one run."""
        runs = list(dict.fromkeys(self._runs))
        if len(runs) < 3:
            return None
        without, with_run = [], []
        for number, run in enumerate(runs, 1):
            step(f"one run alone, {number} of {len(runs)}")
            rows_of_run = [at for at, row_run in enumerate(self._runs) if row_run == run]
            logs = settle(self._problem(rows_of_run), self._prior.mean, self._slopes[rows_of_run])
            times = self._times(logs)
            for at in set(range(len(self._rows))) - set(rows_of_run):
                measured = self._rows[at].latency_ms
                without.append(abs(before[at] / measured - 1))
                with_run.append(abs(times[at] / measured - 1))
        return OneRunAlone(
            median_error_of_others_before=float(np.median(without)),
            median_error_of_others_after=float(np.median(with_run)),
        )

    def _adjusted(self, best: FittedConstants) -> list[CalibratedConstant]:
        """Return the constants, the most changed first; errors are those of their logarithms."""
        errors = np.sqrt(np.diag(np.linalg.inv(self._prior.precision)))
        constants = []
        for p, after, before, fitted in zip(
            self._chosen, np.exp(best.logs), errors, best.log_errors, strict=True
        ):
            moved = abs(math.log(after / p.committed))
            constant = CalibratedConstant(
                stated_by=next(iter(p.datasheets)),
                constant=p.path,
                unit=p.unit,
                reported=max(moved, math.log(before / fitted)) > _INFORMATIVE,
                before=p.committed,
                after=float(after),
                one_sigma_factor_before=math.exp(before),
                one_sigma_factor_after=math.exp(fitted),
            )
            constants.append((moved, constant))
        return [constant for _, constant in sorted(constants, key=lambda pair: -pair[0])]

    def _simulated(self, platform: Platform) -> list[float]:
        predictions = Predictions(lambda chip, stack: platform, self._predictions.load_model)
        return [predictions.ms(row, {}) for row in self._rows]

    def _stated(self, datasheet: DatasheetT, constants: Sequence[CalibratedConstant]) -> DatasheetT:
        """Return the datasheet with adjusted constants and the published fit's intervals."""
        if datasheet not in self._datasheets:
            return datasheet
        adjusted = {
            constant.constant: constant
            for constant in constants
            if constant.stated_by == datasheet.name and constant.reported
        }
        stated = {}
        for path, quantity in datasheet.quantities():
            if path in adjusted:
                stated[path] = self._restated(quantity, adjusted[path])
            elif (index := calibration().stated(datasheet.name, path, quantity)) is not None:
                low, high = calibration().constants[index].interval
                stated[path] = structs.replace(quantity, low=low, high=high)
        return datasheet.restated(stated)

    def _restated(self, constant: Quantity, adjusted: CalibratedConstant) -> Quantity:
        assert constant.low is not None
        assert constant.high is not None
        factor = adjusted.one_sigma_factor_after**STANDARD_ERRORS
        value = float(f"{adjusted.after:.4g}")
        low, high = (float(f"{end:.3g}") for end in (value / factor, value * factor))
        return Quantity(
            value=value,
            unit=constant.unit,
            source=f"{constant.source}; then calibrated with {self._source}",
            confidence="calibrated",
            low=min(max(low, constant.low), value),
            high=max(min(high, constant.high), value),
        )


def _reported(
    row: Measurement, before_ms: float, after_ms: float, left_out_ms: float | None
) -> CalibratedRow:
    layer = row if isinstance(row, MeasuredLayer) else None
    of_run: CalibratedFigure = "forward_propagate" if row.forward else "total_inference"
    return CalibratedRow(
        runtime=cast(Runtime, row.runtime),
        network=row.network,
        model=row.model,
        figure=of_run if layer is None else "layer",
        layer=None if layer is None else layer.layer,
        layer_class=None if layer is None else layer.layer_class,
        measured_ms=row.latency_ms,
        before_ms=before_ms,
        after_ms=after_ms,
        left_out_ms=left_out_ms,
    )
