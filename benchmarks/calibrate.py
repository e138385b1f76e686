"""Fits the calibrated constants to the published measurements.

    python -m benchmarks.calibrate            fit, then leave one network and one chip out
    python -m benchmarks.calibrate --no-fit   errors of the constants as they are committed

What is fitted: the constants that chip and stack files mark calibrated. They are at most five,
shared by all networks and chips; a stack's entry parts belong to that stack. How: robust least
squares (soft L1) in the logarithm of time, inside the bounds that each constant states in its
file. A residual is weighted by the resolution of its measurement together with MODEL_ERROR. CPU
rows are software artefacts of their release and are never fitted; HTA rows have no model yet.

Nothing is written: whoever runs this copies the result into the chip and stack files.
"""

from __future__ import annotations

import argparse
import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from typing import TypeVar, cast

import numpy as np
import numpy.typing as npt
from scipy.optimize import least_squares

from hexsim import chips, data, stacks
from hexsim.datasheet import Datasheet
from hexsim.loading import load
from hexsim.partition import partition
from hexsim.plan import Plan, make_plan
from hexsim.platform import Platform
from hexsim.quantity import Quantity
from hexsim.quantization.quantized import float_network
from hexsim.reports.text import table
from hexsim.runtimes import Runtime

MODEL_ERROR = 0.05
"""Relative error that even a right model is granted, so that a row measured to 1 % does not
outweigh all others (assumed)."""

RUNTIMES = ("dsp", "gpu", "gpu_fp16")

SheetT = TypeVar("SheetT", bound=Datasheet)
Values = Mapping["Parameter", float]


@dataclass(frozen=True)
class Parameter:
    """One constant marked calibrated: its dotted path and the chips or stacks that have it."""

    path: str
    sheets: frozenset[str]
    low: float
    committed: float
    high: float
    unit: str

    @property
    def label(self) -> str:
        """How the tables call it."""
        return f"{self.path} ({', '.join(sorted(self.sheets))})"

    def set(self, sheet: SheetT, value: float) -> SheetT:
        """Return the sheet with the constant at `value`, or as it is if it has no such constant."""
        if sheet.name not in self.sheets:
            return sheet
        return sheet.with_value(self.path, round(value) if self.unit == "B" else value)


@cache
def parameters() -> tuple[Parameter, ...]:
    """Every constant that the chip and stack files mark calibrated; equal ones are one."""
    sheets: list[Datasheet] = [stacks.load(name) for name in stacks.names()]
    sheets += [chips.load(name) for name in chips.names()]
    found: dict[tuple[str, float], tuple[Quantity, set[str]]] = {}
    for sheet in sheets:
        for path, constant in sheet.quantities():
            if constant.confidence == "calibrated":
                found.setdefault((path, constant.value), (constant, set()))[1].add(sheet.name)
    return tuple(
        Parameter(path, frozenset(names), c.low or 0.0, c.value, c.high or math.inf, c.unit)
        for (path, _), (c, names) in found.items()
    )


def fitted_rows() -> list[data.Measurement]:
    """The rows that the fit may see."""
    return [row for row in data.rows() if row.runtime in RUNTIMES]


@cache
def _plan(row: data.Measurement) -> Plan:
    """Plans depend on no fitted constant, so one serves all evaluations.

    Weights are not read: a float network is planned as the default quantiser would leave it.
    """
    network, runtime = float_network(load(row.model)), cast(Runtime, row.runtime)
    return make_plan(network, runtime, partition(network, runtime))


def predict_ms(row: data.Measurement, values: Values) -> float:
    """Simulated latency of a row's case; unknown idle time counts as none (a benchmark loop)."""
    chip, stack = chips.load(row.chip), stacks.load(row.stack_model)
    for parameter, value in values.items():
        chip, stack = parameter.set(chip, value), parameter.set(stack, value)
    result = Platform(chip, stack).simulate(_plan(row), idle_ms=row.idle_ms or 0.0)
    return (result.forward_us if row.forward else result.total_us) / 1e3


def weight(row: data.Measurement) -> float:
    """Weight of a row's log residual."""
    return 1.0 / math.hypot(row.resolution_ms / row.latency_ms, MODEL_ERROR)


@dataclass(frozen=True)
class Fit:
    """Fitted values and their standard errors in the logarithm (infinite: not identified)."""

    values: dict[Parameter, float]
    log_errors: dict[Parameter, float]


def fit(rows: Sequence[data.Measurement]) -> Fit:
    """Fit all parameters to `rows`.

    It starts in the middle of the bounds, not at the committed values, which know all rows; so a
    constant on which `rows` say nothing stays in the middle. The optimiser works in
    1 + log(value / low), which is never near zero, so that its relative steps stay far above the
    picosecond to which times are rounded.
    """
    chosen = parameters()
    low, high = np.log(np.array([(p.low, p.high) for p in chosen]).T)

    def values(x: npt.NDArray[np.float64]) -> dict[Parameter, float]:
        return dict(zip(chosen, np.exp(x - 1.0 + low), strict=True))

    def residuals(x: npt.NDArray[np.float64]) -> npt.NDArray[np.float64]:
        setting = values(x)
        return np.array(
            [weight(row) * math.log(predict_ms(row, setting) / row.latency_ms) for row in rows]
        )

    solution = least_squares(
        residuals,
        (high - low) / 2 + 1.0,
        bounds=(np.ones(len(chosen)), high - low + 1.0),
        loss="soft_l1",
        diff_step=0.01,
        max_nfev=20,
    )
    curvature = solution.jac.T @ solution.jac
    spread = np.sqrt(np.diag(np.linalg.pinv(curvature)))
    blind = np.diag(curvature) < 1e-9
    errors = np.where(blind, np.inf, spread)
    return Fit(values(solution.x), dict(zip(chosen, errors, strict=True)))


def leave_out(
    rows: Sequence[data.Measurement], group: Callable[[data.Measurement], str]
) -> dict[data.Measurement, float]:
    """Predict every row by a fit that has seen no row of its group."""
    predictions = {}
    for name in dict.fromkeys(map(group, rows)):
        values = fit([row for row in rows if group(row) != name]).values
        predictions.update({row: predict_ms(row, values) for row in rows if group(row) == name})
    return predictions


def report(
    rows: Sequence[data.Measurement], columns: Mapping[str, Mapping[data.Measurement, float]]
) -> str:
    """Return a line per row: measured, then prediction and error per column."""
    header = ("chip", "runtime", "network", "figure", "measured", *columns)
    lines = []
    for row in rows:
        cells = (f"{c[row]:.2f} ({c[row] / row.latency_ms - 1:+.0%})" for c in columns.values())
        figure = "forward" if row.forward else "total"
        lines.append((row.chip, row.runtime, row.model, figure, f"{row.latency_ms:g}", *cells))
    return table(header, lines, left=frozenset({0, 1, 2, 3}))


def summary(rows: Iterable[data.Measurement], predictions: Mapping[data.Measurement, float]) -> str:
    """Return median and largest absolute error."""
    errors = [abs(predictions[row] / row.latency_ms - 1) for row in rows]
    return f"median {np.median(errors):.0%}, largest {max(errors):.0%} of {len(errors)} rows"


def main() -> None:
    """Run the fit and print everything."""
    arguments = argparse.ArgumentParser(description="Fit the calibrated constants.")
    arguments.add_argument("--no-fit", action="store_true", help="only the committed constants")
    rows = fitted_rows()
    columns = {"committed": {row: predict_ms(row, {}) for row in rows}}
    if not arguments.parse_args().no_fit:
        best = fit(rows)
        constants = [
            (
                p.label,
                f"{p.committed:.4g}",
                f"{value:.4g}",
                f"x/ {math.exp(best.log_errors[p]):.2f}",
            )
            for p, value in best.values.items()
        ]
        print(table(("constant", "committed", "fitted", "one sigma"), constants), end="\n\n")
        columns["fitted"] = {row: predict_ms(row, best.values) for row in rows}
        columns["network left out"] = leave_out(rows, lambda row: row.model)
        columns["chip left out"] = leave_out(rows, lambda row: row.chip)
    print(report(rows, columns), end="\n\n")
    for name, predictions in columns.items():
        for runtime in RUNTIMES:
            chosen = [row for row in rows if row.runtime == runtime]
            print(f"{name}, {runtime}: {summary(chosen, predictions)}")


if __name__ == "__main__":
    main()
