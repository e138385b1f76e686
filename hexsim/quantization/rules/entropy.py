"""Entropy: cut the ends of a range off as long as the distribution of the values stays the same.

Source: AIMET's entropy encoding analyzer (documented). A window over the bins of a histogram begins
with all of them and becomes two bins narrower in every step, down to `LEVELS` bins. For each window

- P is the counts in it, with those outside added to its outermost bins;
- Q is the counts in it, spread evenly over the bins in use of each of `LEVELS` parts of the window.

Empty bins of both get `EMPTY`, at the expense of the others. The window with the least relative
entropy of P to Q, sum of P ln(P / Q) with both normalised, is the range; the wider wins ties.

In the asymmetric schema a step takes two bins off the low end, two off the high end, or one off
both, whichever loses the fewest values; one off both if that is equal, and then two off the low
end. Zero stays in the window. In the symmetric schema the window is symmetric around zero.

As in AIMET, the search is for 8 bits; other widths take the range from min to max. AIMET's bins are
those that its first input fixes; ours are those of `Histogram`.
"""

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from hexsim.quantization.histogram import Histogram
from hexsim.quantization.observation import Observation
from hexsim.quantization.rules.schema import Spanning

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
