"""Measured and simulated values as text, with three significant digits in all tables and sentences.

Files of data keep all digits; counts are integers; constants stand as their datasheets state them.
"""

import math

_SMALLEST = 1e-5
"""Smaller values are written with an exponent."""


def figure(value: float, sign: str = "") -> str:
    """Return a value with three significant digits and all digits before the point.

    For example `0.0924`, `7.40`, `12.7`, `1733` and `2.00e-07`. With "+" as `sign`, positive
    values have a sign too.
    """
    if not value or not math.isfinite(value):
        return f"{value:{sign}.0f}"
    rounded = float(f"{value:.2e}")
    if abs(rounded) < _SMALLEST:
        return f"{value:{sign}.2e}"
    return f"{value:{sign}.{max(0, 2 - math.floor(math.log10(abs(rounded))))}f}"


def span(low: float, high: float) -> str:
    """Return the ends of an interval: `11.8 .. 13.6`."""
    return f"{figure(low)} .. {figure(high)}"


def percent(share: float, sign: str = "") -> str:
    """Return a share (0 .. 1) or a change that matters to less than one per cent: `0.412%`."""
    return f"{figure(100 * share, sign)}%"


def decibels(sqnr_db: float | None) -> str:
    """Return an SQNR for a cell: `exact` without any noise, nothing where nothing was compared.

    Noise in the place of zeros has minus infinite decibels.
    """
    if sqnr_db is None or sqnr_db == math.inf:
        return "exact"
    return "" if math.isnan(sqnr_db) else figure(sqnr_db)


def size(count: float) -> str:
    """Return memory or traffic in the unit that suits it: `12.3 MiB`, `512 KiB`, `96 B`."""
    for factor, unit in ((2**20, "MiB"), (2**10, "KiB")):
        if count >= factor:
            return f"{figure(count / factor)} {unit}"
    return f"{count:.0f} B"


def given(value: float) -> str:
    """Return a value that others state, as a published time, with no more digits than it has."""
    return min(f"{value:g}", figure(value), key=len)
