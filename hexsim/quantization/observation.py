"""Observation: a summary of a tensor's values for the quantiser, with a histogram if need be.

Bins are 2^exponent wide and start at multiples of their width, and the exponent is the smallest
with which at most `BINS` bins cover zero and every value; so more than half of them are in use.
When later values need wider bins, neighbours are added up in pairs, so in whatever order and
portions values arrive, the histogram is the same. (AIMET's is fixed by the first input.)
"""

from __future__ import annotations

import math

import numpy as np
import numpy.typing as npt

from hexsim.records import dataclass

BINS = 1024
"""Most bins; with powers of two as widths, 512 or more are in use (512: AIMET; documented)."""

_SMALLEST_EXPONENT = -64
"""Bins get no narrower than 2^-64, far below the step of any encoding, so all zeros have a
width (our choice)."""


@dataclass(frozen=True, eq=False)
class Histogram:
    """`counts[i]` values in [(first + i) * 2^exponent, (first + i + 1) * 2^exponent)."""

    exponent: int
    first: int
    counts: npt.NDArray[np.int64]

    @classmethod
    def of(cls, values: npt.NDArray[np.floating]) -> Histogram:
        """Count finite `values`, any shape."""
        reals = values.astype(np.float64).ravel()
        low, high = float(reals.min(initial=0.0)), float(reals.max(initial=0.0))
        exponent = _SMALLEST_EXPONENT
        if high > low:
            exponent = max(exponent, math.frexp((high - low) / BINS)[1] - 1)
        while _bin(high, exponent) - _bin(low, exponent) >= BINS:
            exponent += 1
        first, last = _bin(low, exponent), _bin(high, exponent)
        bins = np.floor(np.ldexp(reals, -exponent)).astype(np.int64) - first
        return cls(exponent, first, np.bincount(bins, minlength=last - first + 1))

    def joined(self, other: Histogram) -> Histogram:
        """Return the histogram of both sets of values."""
        exponent = max(self.exponent, other.exponent)
        while True:
            mine, theirs = self._coarsened(exponent), other._coarsened(exponent)
            first, end = min(mine.first, theirs.first), max(mine._end, theirs._end)
            if end - first <= BINS:
                break
            exponent += 1
        counts = np.zeros(end - first, np.int64)
        for part in (mine, theirs):
            counts[part.first - first : part._end - first] += part.counts
        return Histogram(exponent, first, counts)

    def occupied(self) -> tuple[npt.NDArray[np.float64], npt.NDArray[np.int64]]:
        """Return the centres (real units) and counts of the bins that are not empty."""
        (index,) = np.nonzero(self.counts)
        return np.ldexp(index + self.first + 0.5, self.exponent), self.counts[index]

    def coarser(self, most: int) -> Histogram:
        """Return the same counts in bins so wide that there are at most `most`, two or more."""
        histogram = self
        while len(histogram.counts) > most:
            histogram = histogram._coarsened(histogram.exponent + 1)
        return histogram

    @property
    def low(self) -> float:
        """Where the first bin begins, in real units."""
        return math.ldexp(self.first, self.exponent)

    @property
    def width(self) -> float:
        """How wide a bin is, in real units."""
        return math.ldexp(1.0, self.exponent)

    @property
    def _end(self) -> int:
        return self.first + len(self.counts)

    def _coarsened(self, exponent: int) -> Histogram:
        shift = exponent - self.exponent
        bins = np.arange(self.first, self._end) >> shift
        counts = np.zeros(bins[-1] - bins[0] + 1, np.int64)
        np.add.at(counts, bins - bins[0], self.counts)
        return Histogram(exponent, int(bins[0]), counts)


def _bin(value: float, exponent: int) -> int:
    return math.floor(math.ldexp(value, -exponent))


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
