"""Observation: a summary of a tensor's values for the quantiser."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from hexsim.quantization.histogram import Histogram

_CHUNK = 1 << 15
"""Values in a chunk: they stay in the cache between the search for low and for high."""


@dataclass(frozen=True)
class Observation:
    """Smallest and largest value, in real units, and a histogram if a rule needs one."""

    low: float
    high: float
    histogram: Histogram | None = None

    @classmethod
    def of(cls, values: npt.NDArray[np.generic], *, with_histogram: bool = False) -> Observation:
        """Observe finite real `values` of any shape; for an empty array, low and high are 0."""
        reals = values.astype(np.float32, copy=False)
        histogram = Histogram.of(reals) if with_histogram else None
        return cls(*_extremes(reals.reshape(-1)), histogram)

    def joined(self, other: Observation) -> Observation:
        """Return the observation of both sets of values."""
        low, high = min(self.low, other.low), max(self.high, other.high)
        if self.histogram is None or other.histogram is None:
            return Observation(low, high)
        return Observation(low, high, self.histogram.joined(other.histogram))


def _extremes(values: npt.NDArray[np.float32]) -> tuple[float, float]:
    """Return the smallest and largest of `values`; zeros if empty, NaN if a value is NaN."""
    if not values.size:
        return 0.0, 0.0
    chunks = [values[at : at + _CHUNK] for at in range(0, values.size, _CHUNK)]
    extremes = np.array([(chunk.min(), chunk.max()) for chunk in chunks])
    return float(extremes[:, 0].min()), float(extremes[:, 1].max())
