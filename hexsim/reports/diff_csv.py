"""In what two models differ, as CSV: a row per difference, with the kind that it is."""

from __future__ import annotations

from hexsim.dlc.difference import Difference
from hexsim.reports.csv_text import csv_text
from hexsim.reports.diff_table import sections


def diff_csv(first: str, second: str, difference: Difference) -> str:
    """Return the differences as CSV text.

    The columns are those of the table with the most of them: layer (or chip), what, and the two
    models, or how far values of weights differ and how many; of a layer that only one model has,
    `what` is that model.
    """
    rows = (
        (section.title, *row, *[""] * (4 - len(row)))
        for section in sections(first, second, difference)
        for row in section.rows
    )
    return csv_text(("difference", "layer", "what", "first", "second"), rows)
