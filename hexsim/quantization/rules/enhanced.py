"""Enhanced: cut off rare values at the ends of a range if that makes the error smaller.

SNPE's guide says only that an algorithm "tries to determine a better set of quantization
parameters". The published algorithm of AIMET, tf_enhanced, is used instead: it tries a grid of
encodings on a histogram and takes the one with the least

    sum over bins of count * (centre - dequantised centre)^2 * (3 if the centre saturates else 1)

Candidates, `n` = 2^bits - 1 and `delta`, `min`, `max` those of the default encoding:

- asymmetric: steps f * delta for f = 1/16, 2/16 .. 17/16, times offsets -n + n * i/20 for
  i = 0 .. 20, each window cut to [min, max] and then encoded by the default rule;
- symmetric: limits k/100 of the default one for k = 1 .. 101;
- the default encoding itself, which wins ties: the search is never worse by its own cost.

Every candidate goes through the constructors of Encoding, so zero stays a code and the minimum
range holds. (For all zeros AIMET encodes [-1, 1]; here the default encoding stays.)
"""

from collections.abc import Iterable
from dataclasses import dataclass
from typing import ClassVar

import numpy as np
import numpy.typing as npt

from hexsim.quantization.encodings import MINIMUM_RANGE, Encoding
from hexsim.quantization.observation import Histogram, Observation
from hexsim.quantization.rules.rule import MinMax, Symmetric

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
                        max(low, default.min),
                        min(high, default.max),
                        self.bits,
                        self.minimum_range,
                    )
                )
        return _cheapest(seen, encodings)


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
        return _cheapest(seen, [rule.encode(seen), *candidates])


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


def _cheapest(seen: Observation, encodings: list[Encoding]) -> Encoding:
    assert seen.histogram is not None, "the enhanced rule needs a histogram"
    distinct = list(dict.fromkeys(encodings))
    return distinct[int(np.argmin(costs(seen.histogram, distinct)))]
