"""Rules of weights: adjusted ranges, and an encoding for each output channel.

Adjusted: the default mode makes zero a code by shifting the range, which cuts up to half a step off
one end. Here one end is not changed and the other is moved outwards, by the smallest step with
which no weight saturates. An approximation: the SNPE guide says only that this mode is for 8-bit
weights and that max is pushed up or min pushed down.

Per channel: a channel needs no absolute minimum range, but a relative one, since batch-norm folding
leaves dead channels with weights of 1e-12 and less. So its step is at least 2^-12 of that for the
entire tensor. If a step is still too small for bias and zero point in the accumulator, kernels take
a larger one (hexsim.lowering.headroom).
"""

import math
from collections.abc import Callable
from typing import ClassVar

import numpy as np
import numpy.typing as npt

from hexsim.quantization.encodings import MINIMUM_RANGE, AxisEncoding, Encoding
from hexsim.quantization.observation import Observation
from hexsim.quantization.rules.rule import EncodingRule, Symmetric
from hexsim.records import dataclass


@dataclass(frozen=True)
class Adjusted:
    """The asymmetric 8-bit rule over a range that is widened to hold every value."""

    needs_histogram: ClassVar[bool] = False

    minimum_range: float = MINIMUM_RANGE

    def encode(self, seen: Observation) -> Encoding:
        """Choose the zero point with the smallest step that loses neither end."""
        default = Encoding.from_range(seen.low, seen.high, minimum_range=self.minimum_range)
        low, high = min(0.0, seen.low), max(0.0, seen.high)
        high = max(high, low + self.minimum_range)
        # The best zero point is next to the exact position of zero, which has a rounding error.
        below = math.floor(-low / default.delta)
        points = range(max(below - 1, 0), min(below + 1, default.steps) + 1)
        delta, zero_point = min((_step(low, high, z, default.steps), z) for z in points)
        top = delta * (default.steps - zero_point)
        return Encoding(default.bitwidth, -delta * zero_point, top, delta, -zero_point)


def _step(low: float, high: float, zero_point: int, steps: int) -> float:
    """Return the smallest step with which codes 0 .. steps reach both ends, or infinity."""
    below, above = (
        0.0 if not reach else reach / codes if codes else math.inf
        for reach, codes in ((-low, zero_point), (high, steps - zero_point))
    )
    return max(below, above)


SPREAD = 4096
"""Largest ratio between the steps of a tensor and of its channels.

Our choice: the multiplier of such a channel keeps the precision of an 8-bit code (assumed)."""


def axis_encoding(
    weight: npt.NDArray[np.generic],
    rule: Callable[[int, float], EncodingRule],
    bits: int = 8,
    minimum_range: float = MINIMUM_RANGE,
) -> AxisEncoding:
    """Return one encoding per output channel, the last axis of `weight`.

    `rule` makes a symmetric rule of its bits and its smallest range.
    """
    limit = Symmetric(bits, minimum_range).limit(Observation.of(weight))
    chosen = rule(bits, 2 * limit / SPREAD)
    channels = np.ascontiguousarray(weight.reshape(-1, weight.shape[-1]).T)
    histograms = chosen.needs_histogram
    return AxisEncoding(
        tuple(
            chosen.encode(Observation.of(channel, with_histogram=histograms))
            for channel in channels
        )
    )
