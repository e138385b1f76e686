"""A short form for columns with many repeated values, which keeps pages of 1 000 layers small.

A column becomes its distinct values and an index into them for each row. Only the script of the
page (`report.js`), which expands the columns again, depends on this form.
"""

from collections.abc import Sequence
from typing import Any

_FEWEST = 32
"""The least number of rows of a column that is shortened."""


def shortened(value: Any) -> Any:
    """Return data for JSON with repetitive columns in the short form."""
    if isinstance(value, dict):
        return {key: shortened(item) for key, item in value.items()}
    if not isinstance(value, list | tuple):
        return value
    if len(value) >= _FEWEST and all(isinstance(item, str | float) for item in value):
        return _column(value)
    return [shortened(item) for item in value]


def _column(values: Sequence[str | float]) -> Any:
    """Return the values, or their short form if at least half of them are repetitions."""
    indices: dict[str | float, int] = {}
    rows = [indices.setdefault(value, len(indices)) for value in values]
    return (
        {"distinct": list(indices), "at": rows} if 2 * len(indices) <= len(values) else list(values)
    )
