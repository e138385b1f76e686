"""Datasheets as text: every constant with unit, confidence and source."""

from __future__ import annotations

from hexsim.datasheet import Datasheet
from hexsim.reports.text import quantity, table


def datasheet_table(sheet: Datasheet) -> str:
    """Return a line per constant: dotted path, value, confidence, swept bounds, source."""
    rows = []
    for path, constant in sheet.quantities():
        bounds = ""
        if constant.low is not None and constant.high is not None:
            low, high = (quantity(end, constant.unit) for end in (constant.low, constant.high))
            bounds = f"{low} .. {high}"
        value = quantity(constant.value, constant.unit)
        rows.append((path, value, constant.confidence, bounds, constant.source))
    header = ("constant", "value", "confidence", "swept", "source")
    return f"{sheet.name}: {sheet.title}\n{table(header, rows, left=frozenset({0, 2, 3, 4}))}"
