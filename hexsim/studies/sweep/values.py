"""The values that a constant takes in a sweep."""

import numpy as np

from hexsim.datasheets.quantity import Quantity
from hexsim.studies.sweep.space import Variation


def ends(variation: Variation, constant: Quantity) -> tuple[float | None, float | None]:
    """Return the ends of a range; ends that are not given are the constant's own bounds."""
    low = constant.low if variation.low is None else variation.low
    high = constant.high if variation.high is None else variation.high
    return low, high


def value_at(variation: Variation, constant: Quantity, step: int, share: float) -> float:
    """Return the value at a `step` of a list or range or, if drawn, at a `share` (0 .. 1)."""
    if variation.values is not None:
        return variation.values[step]
    low, high = ends(variation, constant)
    assert low is not None, "settings checks that ranges have ends"
    assert high is not None, "settings checks that ranges have ends"
    if variation.steps is not None:
        share = step / (variation.steps - 1)
    if share in (0.0, 1.0):
        return high if share else low
    if variation.scale == "log":
        return float(np.exp(np.log(low) + share * (np.log(high) - np.log(low))))
    return low + share * (high - low)


def leaves_bounds(constant: Quantity, value: float) -> bool:
    """Return True if a value is outside the constant's bounds in its datasheet."""
    if constant.low is None or constant.high is None:
        return False
    return not constant.low <= value <= constant.high
