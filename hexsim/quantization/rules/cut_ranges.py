"""Rules that cut ends of a range off: enhanced, percentile, entropy and mean squared error.

Source: AIMET's published algorithms (documented; docs/concepts/quantisation.md), since SNPE's guide
describes the purpose only. AIMET's bins are those that its first input fixes; ours are those of
`Histogram`. Every candidate goes through the constructors of Encoding, so zero stays a code.

Enhanced: of a grid of encodings, and the default one, which wins ties, that with the least sum over
bins of count * (centre - dequantised centre)^2, three times that where the centre saturates.

Percentile: low is the lower edge of the first bin with which at least 1 - p of all values are
counted, high that of the first with which at least p are; if both are the same edge, high is the
next one.

Entropy, for 8 bits as in AIMET: a window over all bins becomes two bins narrower in every step,
down to `LEVELS` bins. P is the counts in it, with those outside added to its outermost bins; Q is
the counts in it, spread evenly over the bins in use of each of `LEVELS` parts. Empty bins of both
get `EMPTY`, at the expense of the others. The window with the least relative entropy of P to Q is
the range; the wider wins ties. An asymmetric step takes two bins off the low end, two off the high
end, or one off both, whichever loses the fewest values; one off both if that is equal, and then two
off the low end.

MSE: of all pairs of edges of bins around zero, the range with the least mean squared error; of
equal ones the wider (our choice). The error of the values beyond the ends alone is a lower bound,
so most candidates need no sum over all bins.
"""

from collections.abc import Iterable, Iterator
from fractions import Fraction
from typing import ClassVar

import numpy as np
import numpy.typing as npt

from hexsim.quantization.encodings import MINIMUM_RANGE, Encoding
from hexsim.quantization.observation import Histogram, Observation
from hexsim.quantization.options import PERCENTILE
from hexsim.quantization.rules.rule import MinMax, Spanning, Symmetric
from hexsim.records import dataclass

SATURATION_COST = 3.0
"""Weight of a squared error beyond the ends (AIMET tf_enhanced; documented)."""

_STEP_FRACTIONS = 16
_OFFSETS = 20
_LIMITS = 100
"""Divisions of the default step, of the offset and of the limit (AIMET tf_enhanced; documented)."""


@dataclass(frozen=True)
class Enhanced:
    """The asymmetric rule with the least cost among 17 x 21 ranges."""

    needs_histogram: ClassVar[bool] = True

    bits: int = 8
    minimum_range: float = MINIMUM_RANGE

    def encode(self, seen: Observation) -> Encoding:
        """Return the encoding with the least cost among ranges inside the default one."""
        default = MinMax(self.bits, self.minimum_range).encode(seen)
        steps = default.steps
        encodings = [default]
        for part in range(1, _STEP_FRACTIONS + 2):
            delta = part / _STEP_FRACTIONS * default.delta
            for place in range(_OFFSETS + 1):
                low = delta * (-steps + steps * place / _OFFSETS)
                high = low + delta * steps
                encodings.append(
                    Encoding.from_range(
                        max(low, default.min), min(high, default.max), self.bits, self.minimum_range
                    )
                )
        return _cheapest_of(seen, encodings)


@dataclass(frozen=True)
class EnhancedSymmetric:
    """The symmetric rule with the least cost among 101 limits."""

    needs_histogram: ClassVar[bool] = True

    bits: int = 8
    minimum_range: float = MINIMUM_RANGE

    def encode(self, seen: Observation) -> Encoding:
        """Return the encoding with the least cost among limits up to the default one."""
        rule = Symmetric(self.bits, self.minimum_range)
        limit, least = rule.limit(seen), self.minimum_range / 2
        limits = (max(limit * part / _LIMITS, least) for part in range(1, _LIMITS + 2))
        candidates = (Encoding.symmetric_of(limit, self.bits) for limit in limits)
        return _cheapest_of(seen, [rule.encode(seen), *candidates])


def costs(histogram: Histogram, encodings: Iterable[Encoding]) -> npt.NDArray[np.float64]:
    """Return the cost of each encoding on the values of `histogram` (formula above)."""
    centres, counts = histogram.occupied()
    candidates = list(encodings)
    delta, offset, low, high = (
        np.array([[float(getattr(candidate, name))] for candidate in candidates])
        for name in ("delta", "offset", "min", "max")
    )
    codes = np.clip(np.floor(centres / delta - offset + 0.5), 0, candidates[0].steps)
    squared = (centres - delta * (codes + offset)) ** 2
    saturates = (centres < low) | (centres > high)
    result: npt.NDArray[np.float64] = np.where(saturates, SATURATION_COST, 1.0) * squared @ counts
    return result


def _cheapest_of(seen: Observation, encodings: list[Encoding]) -> Encoding:
    assert seen.histogram is not None, "the enhanced rule needs a histogram"
    distinct = list(dict.fromkeys(encodings))
    return distinct[int(np.argmin(costs(seen.histogram, distinct)))]


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


LEVELS = 255
"""Parts of a window, and bins of the narrowest one (AIMET; documented)."""
EMPTY = 1e-4
"""Count that an empty bin gets (AIMET; documented)."""

Counts = npt.NDArray[np.float64]


@dataclass(frozen=True)
class Entropy(Spanning):
    """The 8-bit rule over the range with the least loss of information."""

    def ends(self, seen: Observation) -> tuple[float, float]:
        """Return the low and the high end of the range, in real units."""
        assert seen.histogram is not None, "the entropy rule needs a histogram"
        counts, first = _bins(seen.histogram, mirrored=self.symmetric)
        if self.bits != 8 or len(counts) < LEVELS:
            return seen.low, seen.high
        best, least = (0, len(counts)), np.inf
        for start, stop in _windows(counts, -first, symmetric=self.symmetric):
            inside = counts[start:stop]
            if not inside.any():
                break
            divergence = relative_entropy(clipped(counts, start, stop), spread_evenly(inside))
            if divergence < least:
                best, least = (start, stop), divergence
        width = seen.histogram.width
        low, high = (width * (first + edge) for edge in best)
        return max(low, seen.low), min(high, seen.high)


def _bins(histogram: Histogram, *, mirrored: bool) -> tuple[Counts, int]:
    """Return the counts and the number of the first bin; `mirrored` bins reach equally far."""
    counts, first = histogram.counts.astype(np.float64), histogram.first
    if mirrored:
        reach = max(-first, first + len(counts))
        counts = np.pad(counts, (first + reach, reach - first - len(counts)))
        first = -reach
    return counts, first


def _windows(counts: Counts, zero: int, *, symmetric: bool) -> Iterator[tuple[int, int]]:
    """Yield the first bin and the end of each window; `zero` is the edge at real zero."""
    start, last = 0, len(counts) - 1
    while last - start + 1 >= LEVELS:
        yield start, last + 1
        if symmetric:
            start, last = start + 1, last - 1
            continue
        losses = (
            counts[start] + counts[last],
            counts[start] + counts[start + 1],
            counts[last] + counts[last - 1],
        )
        taken = losses.index(min(losses))
        if start + (1, 2, 0)[taken] > zero:
            taken = 2
        elif last + 1 - (1, 0, 2)[taken] < zero:
            taken = 1
        start, last = start + (1, 2, 0)[taken], last - (1, 0, 2)[taken]


def clipped(counts: Counts, start: int, stop: int) -> Counts:
    """Return the counts in a window, with those outside in its outermost bins (P)."""
    inside = counts[start:stop].copy()
    inside[0] += counts[:start].sum()
    inside[-1] += counts[stop:].sum()
    return inside


def spread_evenly(inside: Counts) -> Counts:
    """Return the counts of each part of a window spread over its bins in use (Q)."""
    size = len(inside)
    starts = (np.arange(LEVELS) * size + LEVELS - 1) // LEVELS
    used = inside != 0
    sums, uses = np.add.reduceat(inside, starts), np.add.reduceat(used.astype(np.int64), starts)
    means = np.repeat(sums / np.maximum(uses, 1), np.diff(starts, append=size))
    return np.where(used, means, 0.0)


def relative_entropy(p: Counts, q: Counts) -> float:
    """Return the relative entropy of two histograms, in nats, once their empty bins are filled."""
    p, q = _filled(p), _filled(q)
    p, q = p / p.sum(), q / q.sum()
    both = (p > 0) & (q > 0)
    return float(np.sum(p[both] * np.log(p[both] / q[both])))


def _filled(counts: Counts) -> Counts:
    empty = counts == 0
    share = EMPTY * empty.sum() / (~empty).sum()
    return counts if share >= 1 else np.where(empty, EMPTY, counts - share)


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
