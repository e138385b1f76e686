"""A calibration with a user's own measurements, as tables and as JSON."""

import math
from collections.abc import Sequence
from statistics import median

from hexsim.datasheets.measurements import MeasuredLayer
from hexsim.reports.document import Record
from hexsim.reports.text import number, quantity, table
from hexsim.studies.calibration.own import OwnCalibration, ReportedRow
from hexsim.texts.figures import figure, given, percent


def calibration_text(calibration: OwnCalibration) -> str:
    """Return the constants that moved, then each row before and after, then the errors."""
    chip, stack = calibration.before.chip.name, calibration.before.stack.name
    rows_text = number(len(calibration.rows), "row")
    changed = [constant for constant in calibration.constants if constant.reported]
    rows = [
        (
            constant.path,
            constant.datasheet,
            quantity(constant.before, constant.unit),
            _factor(constant.error_before),
            quantity(float(figure(constant.after)), constant.unit),
            _factor(constant.error_after),
        )
        for constant in changed
    ]
    header = ("constant", "stated by", "before", "one sigma", "after", "one sigma")
    return "\n".join(
        [
            f"{chip}, {stack}: {len(calibration.constants)} constants affect {rows_text}; "
            f"{len(changed)} have another value or a smaller error now",
            table(header, rows, left=frozenset({0, 1})),
            "",
            *_tables(calibration.rows),
            "",
            _errors(calibration),
        ]
    )


def _tables(rows: Sequence[ReportedRow]) -> list[str]:
    """Return the table of runs, and the one of classes of layers; none that would be empty."""
    runs = [row for row in rows if not _is_layer(row)]
    layers = [row for row in rows if _is_layer(row)]
    tables = [_rows_table(runs)] if runs else []
    return tables + (["", *_classes_table(layers)] if runs and layers else _classes_table(layers))


def _rows_table(rows: Sequence[ReportedRow]) -> str:
    lines = [
        (
            row.row.runtime,
            row.row.network,
            "forward" if row.row.forward else "total",
            given(row.row.latency_ms),
            *(_with_error(ms, row) for ms in (row.before_ms, row.after_ms, row.left_out_ms)),
        )
        for row in rows
    ]
    times = ("measured ms", "before ms", "after ms", "left out ms")
    header = ("runtime", "network", "figure", *times)
    return table(header, lines, left=frozenset({0, 1, 2}))


def _is_layer(row: ReportedRow) -> bool:
    return isinstance(row.row, MeasuredLayer)


def _classes_table(rows: Sequence[ReportedRow]) -> list[str]:
    """Return a table with the median errors of each class of layers; nothing without layers."""
    classes: dict[tuple[str, str], list[ReportedRow]] = {}
    for row in rows:
        assert isinstance(row.row, MeasuredLayer)
        classes.setdefault((row.row.runtime, row.row.layer_class), []).append(row)
    lines = []
    for (runtime, name), members in classes.items():
        columns = zip(
            *((row.before_ms, row.after_ms, row.left_out_ms) for row in members), strict=True
        )
        errors = (_median_error(members, times) for times in columns)
        lines.append((runtime, name, str(len(members)), *errors))
    header = ("runtime", "class of layer", "layers", "before", "after", "left out")
    return [table(header, lines, left=frozenset({0, 1}))] if lines else []


def _median_error(rows: Sequence[ReportedRow], times_ms: Sequence[float | None]) -> str:
    errors = [
        abs(ms / row.row.latency_ms - 1)
        for row, ms in zip(rows, times_ms, strict=True)
        if ms is not None
    ]
    return f"{median(errors):.0%}" if errors else ""


def _errors(calibration: OwnCalibration) -> str:
    """Return a sentence for each measure of the error of the rows."""
    rows = calibration.rows
    before, after = (
        median(abs(ms / row.row.latency_ms - 1) for row, ms in pairs)
        for pairs in (
            [(row, row.before_ms) for row in rows],
            [(row, row.after_ms) for row in rows],
        )
    )
    lines = [f"Median error of the rows: {percent(before)} before, {percent(after)} after."]
    unseen = [
        abs(row.left_out_ms / row.row.latency_ms - 1) for row in rows if row.left_out_ms is not None
    ]
    if unseen:
        lines.append(f"Each predicted by a calibration with the others: {percent(median(unseen))}.")
    if calibration.one_run is not None:
        without, with_run = calibration.one_run
        lines.append(
            f"One run alone leaves {percent(with_run)} on the others, which is {percent(without)} "
            "without it."
        )
    return "\n".join(lines)


def _figure(row: ReportedRow) -> str:
    if _is_layer(row):
        return "layer"
    return "forward_propagate" if row.row.forward else "total_inference"


def _with_error(ms: float | None, row: ReportedRow) -> str:
    return "" if ms is None else f"{figure(ms)} ({ms / row.row.latency_ms - 1:+.0%})"


def _factor(log_error: float) -> str:
    return f"x/ {figure(math.exp(log_error))}"


_constant = Record(
    "A constant; its errors are factors.",
    "stated_by=datasheet constant=path unit reported before after",
    {"one_sigma_factor_before": lambda constant: math.exp(constant.error_before)},
    {"one_sigma_factor_after": lambda constant: math.exp(constant.error_after)},
)

_row = Record(
    "A measured row, before and after, and predicted from the others.",
    ("row", "runtime network model"),
    {"figure": _figure},
    (lambda row: row.row if _is_layer(row) else None, "layer layer_class"),
    "measured_ms=row.latency_ms before_ms after_ms left_out_ms",
)

_one_run = Record(
    "What one run alone does to the others.",
    "median_error_of_others_before=0 median_error_of_others_after=1",
)

calibration_facts = Record(
    "What calibrate found.",
    "chip=before.chip.name stack=before.stack.name",
    {"constants": ("constants", [_constant]), "rows": ("rows", [_row])},
    {"one_run_alone": ("one_run", _one_run)},
)
