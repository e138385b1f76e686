"""A calibration with a user's own measurements, as tables."""

from collections.abc import Sequence
from statistics import median

from hexsim.reports.text import number, quantity, table
from hexsim.results.calibration import CalibratedRow, Calibration
from hexsim.texts.figures import figure, given, percent


def calibration_text(calibration: Calibration) -> str:
    """Return the constants that moved, then each row before and after, then the errors."""
    chip, stack = calibration.chip, calibration.stack
    rows_text = number(len(calibration.measured), "row")
    changed = [constant for constant in calibration.constants if constant.reported]
    rows = [
        (
            constant.constant,
            constant.stated_by,
            quantity(constant.before, constant.unit),
            f"x/ {figure(constant.one_sigma_factor_before)}",
            quantity(float(figure(constant.after)), constant.unit),
            f"x/ {figure(constant.one_sigma_factor_after)}",
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
            *_tables(calibration.measured),
            "",
            _errors(calibration),
        ]
    )


def _tables(rows: Sequence[CalibratedRow]) -> list[str]:
    """Return the table of runs, and the one of classes of layers; none that would be empty."""
    runs = [row for row in rows if not _is_layer(row)]
    layers = [row for row in rows if _is_layer(row)]
    tables = [_rows_table(runs)] if runs else []
    return tables + (["", *_classes_table(layers)] if runs and layers else _classes_table(layers))


def _rows_table(rows: Sequence[CalibratedRow]) -> str:
    lines = [
        (
            row.runtime,
            row.network,
            "forward" if row.figure == "forward_propagate" else "total",
            given(row.measured_ms),
            *(_with_error(ms, row) for ms in (row.before_ms, row.after_ms, row.left_out_ms)),
        )
        for row in rows
    ]
    times = ("measured ms", "before ms", "after ms", "left out ms")
    header = ("runtime", "network", "figure", *times)
    return table(header, lines, left=frozenset({0, 1, 2}))


def _is_layer(row: CalibratedRow) -> bool:
    return row.layer is not None


def _classes_table(rows: Sequence[CalibratedRow]) -> list[str]:
    """Return a table with the median errors of each class of layers; nothing without layers."""
    classes: dict[tuple[str, str], list[CalibratedRow]] = {}
    for row in rows:
        classes.setdefault((row.runtime, row.layer_class or ""), []).append(row)
    lines = []
    for (runtime, name), members in classes.items():
        columns = zip(
            *((row.before_ms, row.after_ms, row.left_out_ms) for row in members), strict=True
        )
        errors = (_median_error(members, times) for times in columns)
        lines.append((runtime, name, str(len(members)), *errors))
    header = ("runtime", "class of layer", "layers", "before", "after", "left out")
    return [table(header, lines, left=frozenset({0, 1}))] if lines else []


def _median_error(rows: Sequence[CalibratedRow], times_ms: Sequence[float | None]) -> str:
    errors = [
        abs(ms / row.measured_ms - 1)
        for row, ms in zip(rows, times_ms, strict=True)
        if ms is not None
    ]
    return f"{median(errors):.0%}" if errors else ""


def _errors(calibration: Calibration) -> str:
    """Return a sentence for each measure of the error of the rows."""
    rows = calibration.measured
    before, after = (
        median(abs(ms / row.measured_ms - 1) for row, ms in pairs)
        for pairs in (
            [(row, row.before_ms) for row in rows],
            [(row, row.after_ms) for row in rows],
        )
    )
    lines = [f"Median error of the rows: {percent(before)} before, {percent(after)} after."]
    unseen = [
        abs(row.left_out_ms / row.measured_ms - 1) for row in rows if row.left_out_ms is not None
    ]
    if unseen:
        lines.append(f"Each predicted by a calibration with the others: {percent(median(unseen))}.")
    if (alone := calibration.one_run_alone) is not None:
        lines.append(
            f"One run alone leaves {percent(alone.median_error_of_others_after)} on the others, "
            f"which is {percent(alone.median_error_of_others_before)} without it."
        )
    return "\n".join(lines)


def _with_error(ms: float | None, row: CalibratedRow) -> str:
    return "" if ms is None else f"{figure(ms)} ({ms / row.measured_ms - 1:+.0%})"
