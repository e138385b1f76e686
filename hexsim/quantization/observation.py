"""Observation: what the quantiser remembers of a tensor's values."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from hexsim.quantization.histogram import Histogram


@dataclass(frozen=True)
class Observation:
    """Smallest and largest value, in real units, and a histogram if somebody needs one."""

    low: float
    high: float
    histogram: Histogram | None = None

    @classmethod
    def of(cls, values: npt.NDArray[np.generic], *, with_histogram: bool = False) -> Observation:
        """Observe finite real `values`, any shape."""
        reals = values.astype(np.float32, copy=False)
        histogram = Histogram.of(reals) if with_histogram else None
        return cls(float(np.min(reals)), float(np.max(reals)), histogram)

    def joined(self, other: Observation) -> Observation:
        """What is known after both."""
        low, high = min(self.low, other.low), max(self.high, other.high)
        if self.histogram is None or other.histogram is None:
            return Observation(low, high)
        return Observation(low, high, self.histogram.joined(other.histogram))
