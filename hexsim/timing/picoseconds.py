"""The unit of simulated time, apart from the events: answers are read without simpy."""

import math

from hexsim.errors import HexsimError

PS_PER_SECOND = 10**12
PS_PER_MS = 10**9
PS_PER_US = 10**6


def seconds_to_ps(seconds: float) -> int:
    """Return the nearest picosecond; HexsimError for a time that is not finite."""
    if not math.isfinite(seconds * PS_PER_SECOND):
        raise HexsimError(
            f"something takes {seconds:.3g} seconds, too long to simulate; look for a constant of "
            "the chip or the stack that is far from usual ones"
        )
    return round(seconds * PS_PER_SECOND)


def ps_to_clocks(ps: int, clock_hz: float) -> int:
    """Return the whole cycles of a clock that end within `ps`, rounded to the nearest."""
    return round(ps * clock_hz / PS_PER_SECOND)
