"""The values that a constant takes in a sweep."""

from __future__ import annotations

import numpy as np

from hexsim.datasheets.quantity import Quantity
from hexsim.studies.sweep.space import Variation


def ends(how: Variation, constant: Quantity) -> tuple[float | None, float | None]:
    """The ends of a range; those that are not given are the bounds of the constant itself."""
    low = constant.low if how.low is None else how.low
    high = constant.high if how.high is None else how.high
    return low, high


def value_at(how: Variation, constant: Quantity, step: int, share: float) -> float:
    """The value at a `step` of a list or range or, if it is drawn, at a `share` (0 .. 1) of it."""
    if how.values is not None:
        return how.values[step]
    low, high = ends(how, constant)
    assert low is not None, "settings checks that ranges have ends"
    assert high is not None, "settings checks that ranges have ends"
    if how.steps is not None:
        share = step / (how.steps - 1)
    if share in (0.0, 1.0):
        return high if share else low
    if how.scale == "log":
        return float(np.exp(np.log(low) + share * (np.log(high) - np.log(low))))
    return low + share * (high - low)


def leaves_bounds(constant: Quantity, value: float) -> bool:
    """True if a value is outside the bounds that a constant has in its own file."""
    if constant.low is None or constant.high is None:
        return False
    return not constant.low <= value <= constant.high
