"""MSE: the range with the least mean squared error, of all that begin and end at edges of bins.

Source: AIMET's MSE encoding analyzer (documented). Candidates are all pairs of a low end that is an
edge of the histogram's bins at or below zero, and a high end at or above zero. Each is encoded by
the schema, and costs

    sum over bins of count * (centre - dequantised centre)^2

The least cost wins. Of equal costs the wider candidate wins, so the range from min to max first
(our choice). Unlike the enhanced rule, a value beyond the ends costs no more than others, and the
ends move bin by bin. AIMET's bins are those that its first input fixes; ours are those of
`Histogram`.

The error of the values beyond the ends alone, from sums over the counts, is a lower bound of a
cost. So most candidates need no sum over all bins.
"""

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from hexsim.quantization.histogram import Histogram
from hexsim.quantization.observation import Observation
from hexsim.quantization.rules.schema import Spanning

_CANDIDATES = 64
"""Candidates whose errors are in memory at once."""
_ROUNDING = 1e-9
"""Relative rounding error of the lower bounds, with a margin."""

Reals = npt.NDArray[np.float64]


@dataclass(frozen=True)
class MeanSquaredError(Spanning):
    """The rule over the range with the least mean squared error."""

    def ends(self, seen: Observation) -> tuple[float, float]:
        """Return the low and the high end of the range, in real units."""
        assert seen.histogram is not None, "the MSE rule needs a histogram"
        lows, highs = _pairs(seen, seen.histogram, symmetric=self.symmetric)
        delta, offset = self._steps(lows, highs)
        best = _cheapest(seen.histogram, delta, offset, (1 << self.bits) - 1)
        return float(lows[best]), float(highs[best])

    def _steps(self, lows: Reals, highs: Reals) -> tuple[Reals, Reals]:
        """Return steps and offsets of the encodings of many ranges, as `spanning` makes them."""
        steps = (1 << self.bits) - 1
        highs = np.maximum(highs, lows + self.minimum_range)
        if self.symmetric:
            half = 1 << (self.bits - 1)
            delta = np.maximum(-lows, highs) / (half - 1)
            return delta, np.full_like(delta, -half)
        delta = (highs - lows) / steps
        return delta, -np.minimum(np.floor(-lows / delta + 0.5), steps)


def _pairs(seen: Observation, histogram: Histogram, *, symmetric: bool) -> tuple[Reals, Reals]:
    """Return the low and high ends of all candidates, in real units, the widest first."""
    edges = histogram.low + histogram.width * np.arange(len(histogram.counts) + 1)
    edges = np.clip(edges, min(0.0, seen.low), max(0.0, seen.high))
    lows, highs = np.unique(edges[edges <= 0]), np.unique(edges[edges >= 0])[::-1]
    if symmetric:
        limits = np.unique(np.concatenate([-lows, highs]))[::-1]
        return -limits, limits
    return np.repeat(lows, len(highs)), np.tile(highs, len(lows))


def _cheapest(histogram: Histogram, delta: Reals, offset: Reals, steps: int) -> int:
    """Return the index of the encoding with the least cost; of equal ones, the first."""
    centres, counts = histogram.occupied()
    bounds = _beyond(centres, counts, delta * offset, delta * (offset + steps))
    order = np.argsort(bounds, kind="stable")
    best, least = 0, np.inf
    for at in range(0, len(order), _CANDIDATES):
        chosen = order[at : at + _CANDIDATES]
        if bounds[chosen[0]] > least:
            break
        costs = _costs(centres, counts, delta[chosen, None], offset[chosen, None], steps)
        cheapest = int(np.argmin(costs))
        if costs[cheapest] < least:
            best, least = int(chosen[cheapest]), float(costs[cheapest])
    return best


def _costs(
    centres: Reals, counts: npt.NDArray[np.int64], delta: Reals, offset: Reals, steps: int
) -> Reals:
    """Return the cost of each of some encodings."""
    codes = np.clip(np.floor(centres / delta - offset + 0.5), 0, steps)
    costs: Reals = (centres - delta * (codes + offset)) ** 2 @ counts
    return costs


def _beyond(centres: Reals, counts: npt.NDArray[np.int64], lows: Reals, highs: Reals) -> Reals:
    """Return a lower bound of each cost: the squared errors of the values beyond the ends."""
    moments = [np.append(0.0, np.cumsum(counts * centres**power)) for power in (0, 1, 2)]
    below, above = np.searchsorted(centres, lows), np.searchsorted(centres, highs)
    bound = np.zeros_like(lows)
    for ends, sums in (
        (lows, [moment[below] for moment in moments]),
        (highs, [moment[-1] - moment[above] for moment in moments]),
    ):
        square = ends**2 * sums[0]
        error = square - 2 * ends * sums[1] + sums[2]
        bound += np.maximum(error - _ROUNDING * (square + sums[2]), 0.0)
    return bound
