"""What rows of a user's own say of a platform's constants, as text."""

from __future__ import annotations

import math
from collections.abc import Sequence
from statistics import median

from hexsim.reports.text import quantity, table
from hexsim.studies.calibration.own import OwnCalibration, ReportedRow


def calibration_text(found: OwnCalibration) -> str:
    """Return the constants that moved, then each row before and after, then the errors."""
    chip, stack = found.before.chip.name, found.before.stack.name
    told = [constant for constant in found.constants if constant.told]
    constants = [
        (
            one.path,
            one.sheet,
            quantity(one.before, one.unit),
            _factor(one.error_before),
            quantity(one.after, one.unit),
            _factor(one.error_after),
        )
        for one in told
    ]
    header = ("constant", "stated by", "before", "one sigma", "after", "one sigma")
    return "\n".join(
        [
            f"{chip}, {stack}: of {len(found.constants)} constants that {_rows(found)} read, "
            f"{len(told)} say something else or are surer now",
            table(header, constants, left=frozenset({0, 1})),
            "",
            _rows_table(found.rows),
            "",
            _errors(found),
        ]
    )


def _rows(found: OwnCalibration) -> str:
    return "1 row" if len(found.rows) == 1 else f"{len(found.rows)} rows"


def _rows_table(rows: Sequence[ReportedRow]) -> str:
    lines = [
        (
            row.row.runtime,
            row.row.network,
            "forward" if row.row.forward else "total",
            f"{row.row.latency_ms:g}",
            *(_with_error(ms, row) for ms in (row.before_ms, row.after_ms, row.left_out_ms)),
        )
        for row in rows
    ]
    header = ("runtime", "network", "figure", "measured (ms)", "before", "after", "left out")
    return table(header, lines, left=frozenset({0, 1, 2}))


def _errors(found: OwnCalibration) -> str:
    """One sentence per way to ask how far off the rows are."""
    rows = found.rows
    before, after = (
        median(abs(ms / one.row.latency_ms - 1) for one, ms in pairs)
        for pairs in (
            [(row, row.before_ms) for row in rows],
            [(row, row.after_ms) for row in rows],
        )
    )
    lines = [f"Median error of the rows: {before:.1%} before, {after:.1%} after."]
    unseen = [
        abs(row.left_out_ms / row.row.latency_ms - 1) for row in rows if row.left_out_ms is not None
    ]
    if unseen:
        lines.append(f"Each predicted by a calibration with the others: {median(unseen):.1%}.")
    if found.one_run is not None:
        without, with_one = found.one_run
        lines.append(
            f"One run alone leaves {with_one:.1%} on the others, which is {without:.1%} without it."
        )
    return "\n".join(lines)


def _with_error(ms: float | None, one: ReportedRow) -> str:
    return "" if ms is None else f"{ms:.2f} ({ms / one.row.latency_ms - 1:+.0%})"


def _factor(log_error: float) -> str:
    return f"x/ {math.exp(log_error):.2f}"
