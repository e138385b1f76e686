"""The differences of two models as CSV: a row per difference, with its kind."""

from __future__ import annotations

from hexsim.dlc.difference import Difference
from hexsim.reports.csv_text import csv_text
from hexsim.reports.diff_table import sections


def diff_csv(first: str, second: str, difference: Difference) -> str:
    """Return the differences as CSV text.

    The columns are the layer (or chip), the property, and its values in both models. For weights
    these are the largest difference and the number of values that differ. For a layer that only
    one model has, `what` names that model.
    """
    rows = (
        (section.title, *row, *[""] * (4 - len(row)))
        for section in sections(first, second, difference)
        for row in section.rows
    )
    return csv_text(("difference", "layer", "what", "first", "second"), rows)
