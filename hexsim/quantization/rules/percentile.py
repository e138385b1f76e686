"""Percentile: a share of the values is cut off at both ends, however far they reach.

Source: AIMET's percentile encoding analyzer (documented). With the share p = `percentile` / 100 and
the bins of a histogram in order,

    low  = lower edge of the first bin with which at least 1 - p of all values are counted
    high = lower edge of the first bin with which at least p of all values are counted

If both are the same edge, high is the next one. 100 cuts off nothing. The range is widened to hold
zero. AIMET's bins are those that its first input fixes; ours are those of `Histogram`.
"""

from dataclasses import dataclass
from fractions import Fraction

import numpy as np

from hexsim.quantization.observation import Observation
from hexsim.quantization.options import PERCENTILE
from hexsim.quantization.rules.schema import Spanning


@dataclass(frozen=True)
class Percentile(Spanning):
    """The rule over the range that holds the middle values; `percentile` lies in 90 .. 100."""

    percentile: float = PERCENTILE

    def ends(self, seen: Observation) -> tuple[float, float]:
        """Return the low and the high end of the range, in real units."""
        histogram = seen.histogram
        assert histogram is not None, "percentiles need a histogram"
        total = int(histogram.counts.sum())
        if self.percentile == 100 or not total:
            return seen.low, seen.high
        counted = np.cumsum(histogram.counts)
        share = Fraction(str(self.percentile)) / 100  # exact, so that 99.99 of 10000 is a count
        first, last = (
            int(np.argmax(counted >= -(-part.numerator * total // part.denominator)))
            for part in (1 - share, share)
        )
        low = histogram.low + first * histogram.width
        high = histogram.low + max(last, first + 1) * histogram.width
        return max(low, seen.low), min(high, seen.high)
