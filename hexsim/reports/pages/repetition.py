"""Columns that repeat a few values many times, written short: a page of 1 000 layers stays small.

Such a column becomes its distinct values and the place of each row's value among them. The script
of the page undoes it as it reads (`report.js`), so nothing else knows.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

_FEWEST = 32
"""Rows from which on a column is looked at."""


def shortened(value: Any) -> Any:
    """Return data for JSON with such columns written short."""
    if isinstance(value, dict):
        return {key: shortened(one) for key, one in value.items()}
    if not isinstance(value, list | tuple):
        return value
    if len(value) >= _FEWEST and all(isinstance(one, str | float) for one in value):
        return _column(value)
    return [shortened(one) for one in value]


def _column(values: Sequence[str | float]) -> Any:
    """The values, or what they are made of if half of them are repetitions."""
    places: dict[str | float, int] = {}
    at = [places.setdefault(value, len(places)) for value in values]
    return {"distinct": list(places), "at": at} if 2 * len(places) <= len(values) else list(values)
