"""Simulated time: integer picoseconds, so that equal inputs give byte-equal timelines."""

from __future__ import annotations

import math

PS_PER_SECOND = 10**12
PS_PER_MS = 10**9
PS_PER_US = 10**6


def seconds_to_ps(seconds: float) -> int:
    """Return the nearest picosecond."""
    return round(seconds * PS_PER_SECOND)


def clocks_to_ps(clocks: float, clock_hz: float) -> int:
    """Return the picoseconds that `clocks` cycles of a clock take, rounded up."""
    return math.ceil(clocks * PS_PER_SECOND / clock_hz)


def ps_to_clocks(ps: int, clock_hz: float) -> int:
    """Return the whole cycles of a clock that end within `ps`, rounded to the nearest."""
    return round(ps * clock_hz / PS_PER_SECOND)
