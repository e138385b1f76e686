"""Requantise: from int32 accumulators to u8 codes with one rounding.

`round(x)` is floor(x + 1/2) throughout. For an accumulator whose step is `step` real units and an
output of step `delta` and zero point `zero`, the scale is M = step / delta and

    shift      = the least s >= 0 with M * 2^-s < 1
    multiplier = round(M * 2^(31 - s)), held in 1 .. 2^31 - 1
    preload    = round(bias / step) + round(zero / M), saturated to int32
    code       = clamp((sat32(acc << shift) * multiplier + 2^30) >> 31, low, high)

where acc starts from `preload` and wraps modulo 2^32. That is an HVX tail: a saturating shift
left, then `vmpye` and `vmpyo:<<1:rnd:sat`, then saturating packs.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from hexsim.binding.call import Codes, Int32, Operand, Real
from hexsim.layers import NO_CLAMP, Clamp
from hexsim.quantization.encodings import Encoding

_INT32_MIN, _INT32_MAX = -(1 << 31), (1 << 31) - 1

FACTOR_BITS = 14
"""Fraction bits of the 16-bit factors that bring codes to a common scale (our choice: the most
for which a factor of one fits a signed 16-bit lane)."""


@dataclass(frozen=True, eq=False)
class Requantise:
    """Constants of one requantise; arrays have one entry per channel, or one in all."""

    preload: Int32
    multiplier: Int32
    shift: Int32
    low: int
    high: int

    def apply(self, accumulator: npt.NDArray[np.int64]) -> Codes:
        """Return the codes of accumulators that already hold the preload, shape (..., n)."""
        wide = np.clip(accumulator << self.shift.astype(np.int64), _INT32_MIN, _INT32_MAX)
        code = (wide * self.multiplier + (1 << 30)) >> 31
        codes: Codes = np.clip(code, self.low, self.high).astype(np.uint8)
        return codes


def requantise(
    steps: npt.ArrayLike,
    output: Encoding,
    clamp: Clamp = NO_CLAMP,
    bias: Real | None = None,
) -> Requantise:
    """Return the constants for accumulators of `steps` real units, one per channel or one.

    `bias` is in real units, one per entry of `steps`.
    """
    step = np.atleast_1d(np.asarray(steps, np.float64))
    scale = step / output.delta
    shift = np.clip(np.frexp(scale)[1], 0, 31).astype(np.int32)
    multiplier = np.clip(rounded(np.ldexp(scale, 31 - shift)), 1, _INT32_MAX)
    preload = rounded(output.zero_point / scale)
    if bias is not None:
        preload = preload + rounded(bias / step)
    return Requantise(
        saturated(preload), multiplier.astype(np.int32), shift, *clamp_codes(clamp, output)
    )


def clamp_codes(clamp: Clamp, encoding: Encoding) -> tuple[int, int]:
    """Return the smallest and largest code that `clamp` lets through."""

    def code(bound: float, unlimited: int) -> int:
        if not math.isfinite(bound):
            return unlimited
        return int(encoding.quantize(np.array([bound]))[0])

    return code(clamp.low, 0), code(clamp.high, encoding.steps)


def rescale_table(source: Operand, output: Encoding, clamp: Clamp = NO_CLAMP) -> Codes | None:
    """Return the 256 output codes of the 256 input codes, or None if no code changes.

    A code is rescaled as a sum of one operand: its distance from zero times a factor.
    """
    low, high = clamp_codes(clamp, output)
    same = (source.encoding.delta, source.encoding.offset) == (output.delta, output.offset)
    if same and (low, high) == (0, 255):
        return None
    if same:
        return np.arange(256).clip(low, high).astype(np.uint8)
    factors, step = common_scale([source.delta], output)
    tail = requantise(step, output, clamp)
    distance = np.arange(256, dtype=np.int64) - source.zero_point
    return tail.apply(distance * factors[0] + tail.preload)


def common_scale(deltas: Sequence[float], output: Encoding) -> tuple[Int32, float]:
    """Return a signed 16-bit factor per operand and the step of the sum of the products.

    factor = round(delta / coarsest * 2^14), where `coarsest` is the largest step of the operands
    and the output. (Without the output, operands much finer than it would leave the multiplier
    few bits and the output's zero point could exceed the accumulator.)
    """
    coarsest = max(*deltas, output.delta)
    factors = rounded(np.array(deltas) / coarsest * (1 << FACTOR_BITS)).astype(np.int32)
    return factors, coarsest * 2.0**-FACTOR_BITS


def rounded(x: npt.NDArray[np.float64]) -> npt.NDArray[np.float64]:
    """Nearest integers, ties towards plus infinity."""
    return np.floor(x + 0.5)


def saturated(x: npt.NDArray[np.float64]) -> Int32:
    """Integers held in the range of int32."""
    return np.clip(x, _INT32_MIN, _INT32_MAX).astype(np.int32)
