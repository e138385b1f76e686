"""Requantise: from accumulators to u8 or u16 codes with one rounding.

The formulas are in docs/reference/arithmetic.md; `round(x)` is floor(x + 1/2) throughout. It is an
HVX requantise stage: a saturating shift left, then `vmpye` and `vmpyo:<<1:rnd:sat`, then saturating
packs. Operands of 16 bits are computed byte by byte (hexsim.int8.sixteen_bit); their sum has eight
fraction bits for each further byte of a factor, which a `vmpye` of the rest adds before the one
rounding.

Concat, maximum and minimum of 8-bit operands are rescaled as Hexagon NN does it. Scales that its
factors do not hold, which the library avoids by the choice of its output range, and 16-bit codes
are rescaled like any code that moves (`rescale_table`).
"""

import math
from collections.abc import Sequence

import numpy as np
import numpy.typing as npt

from hexsim.layers import NO_CLAMP, Clamp
from hexsim.lowering.lowered_call import CallOperands, Codes, Int32, Int64, Operand, Real
from hexsim.quantization.encodings import Encoding
from hexsim.records import dataclass

INT32_MIN, INT32_MAX = -(1 << 31), (1 << 31) - 1

FACTOR_BITS = {8: 14, 16: 20}
"""Fraction bits of the factors that bring codes to a common scale, by the width of the codes. Our
choice: at 8 bits the most for which a factor of one fits a signed 16-bit lane, at 16 bits the most
for which eight products with bytes fit an int32."""


@dataclass(frozen=True, eq=False)
class Requantize:
    """Constants of one requantise stage; arrays have one entry per channel, or one in all.

    `preload` is int32 without fraction bits and int64 with them.
    """

    preload: Int32 | Int64
    multiplier: Int32
    shift: Int32
    low: int
    high: int
    fraction_bits: int = 0

    def apply(self, accumulator: Int64) -> Int64:
        """Return the codes of accumulators that already hold the preload, shape (..., n)."""
        shift, fraction = self.shift.astype(np.int64), self.fraction_bits
        integer = accumulator >> fraction
        rest = (accumulator - (integer << fraction)) * self.multiplier
        shifted = np.clip(integer, INT32_MIN, INT32_MAX) << shift
        shifted = np.clip(shifted, INT32_MIN, INT32_MAX)
        right = fraction + 16 - shift
        more = rest >> np.maximum(right, 0) << np.maximum(-right, 0)
        code = (shifted * self.multiplier + (more << 16) + (1 << 30)) >> 31
        codes: Int64 = np.clip(code, self.low, self.high)
        return codes


def requantize(
    steps: npt.ArrayLike,
    output: Encoding,
    clamp: Clamp = NO_CLAMP,
    bias: Real | None = None,
    fraction_bits: int = 0,
    *,
    one_shift: bool = False,
) -> Requantize:
    """Return the constants for accumulators of `steps` real units, one per channel or one.

    `bias` is in real units, one per entry of `steps`. With `one_shift` all channels have the shift
    of the largest step.
    """
    step = np.atleast_1d(np.asarray(steps, np.float64))
    scale = step / output.delta
    integer_scale = np.ldexp(scale, fraction_bits)
    shift = shifts(integer_scale, one_shift=one_shift)
    multiplier = np.clip(rounded(np.ldexp(integer_scale, 31 - shift)), 1, INT32_MAX)
    preload = output.zero_point / scale
    if bias is not None:
        preload = preload + bias / step
    return Requantize(
        saturated(rounded(preload), fraction_bits),
        multiplier.astype(np.int32),
        shift,
        *clamp_codes(clamp, output),
        fraction_bits,
    )


def shifts(scales: Real, *, one_shift: bool) -> Int32:
    """Return the least shifts with which scales are below one; of all together with `one_shift`."""
    exponents = np.clip(np.frexp(scales)[1], 0, 31).astype(np.int32)
    return np.full_like(exponents, exponents.max(initial=0)) if one_shift else exponents


def clamp_codes(clamp: Clamp, encoding: Encoding) -> tuple[int, int]:
    """Return the smallest and largest code that `clamp` lets through."""

    def code(bound: float, unlimited: int) -> int:
        if not math.isfinite(bound):
            return unlimited
        return int(encoding.quantize(np.array([bound]))[0])

    return code(clamp.low, 0), code(clamp.high, encoding.steps)


def rescale_table(source: Operand, output: Encoding, clamp: Clamp = NO_CLAMP) -> Codes | None:
    """Return the output codes of all 256 or 65536 input codes, or None if no code changes.

    A code is rescaled as a sum of one operand: its distance from zero times a factor.
    """
    low, high = clamp_codes(clamp, output)
    codes = np.arange(source.encoding.steps + 1, dtype=np.int64)
    if same_encoding(source.encoding, output):
        identical = (low, high) == (0, output.steps)
        return None if identical else codes.clip(low, high).astype(output.dtype)
    factors, step = common_scale([source.delta], output, source.bits)
    stage = requantize(step, output, clamp, fraction_bits=source.bits - 8)
    changed = stage.apply((codes - source.zero_point) * factors[0] + stage.preload)
    return changed.astype(output.dtype)


def moved_table(call: CallOperands) -> Codes | None:
    """Return what rescales the codes of the first operand to the result's, None if none changes."""
    return rescale_table(call.inputs[0], call.output.encoding)


def same_encoding(first: Encoding, second: Encoding) -> bool:
    """Return whether equal codes stand for equal values."""
    return (first.bitwidth, first.delta, first.offset) == (
        second.bitwidth,
        second.delta,
        second.offset,
    )


def common_scale(deltas: Sequence[float], output: Encoding, bits: int = 8) -> tuple[Int32, float]:
    """Return a signed factor per operand of `bits` bits and the step of the sum of the products.

    factor = round(delta / coarsest * 2^FACTOR_BITS), where `coarsest` is the largest step of the
    operands and the output. (Without the output, operands much finer than it would leave the
    multiplier few bits and the output's zero point could exceed the accumulator.)
    """
    coarsest = max(*deltas, output.delta)
    factors = rounded(np.array(deltas) / coarsest * (1 << FACTOR_BITS[bits])).astype(np.int32)
    return factors, coarsest * 2.0 ** -FACTOR_BITS[bits]


def rounded(x: npt.NDArray[np.float64]) -> npt.NDArray[np.float64]:
    """Return the nearest integers, ties towards plus infinity."""
    return np.floor(x + 0.5)


def saturated(x: Real, fraction_bits: int = 0) -> Int32 | Int64:
    """Return integers clamped to an int32, or to an int32 with fraction bits, in an int64."""
    unit = 1 << fraction_bits
    if not fraction_bits:
        return np.clip(x, INT32_MIN, INT32_MAX).astype(np.int32)
    return np.clip(x, INT32_MIN * unit, INT32_MAX * unit).astype(np.int64)


_COMPARED_BITS = 12
"""Fraction bits of the factors of maximum and minimum, unsigned 16-bit numbers."""
_ONE = (1 << 15) - 1
"""The largest gain of a concat, which stands for a step equal to the output's."""
_COPIES = 32704
"""From this gain on, codes that begin where the output's do are copied."""


def joined_table(source: Operand, output: Encoding) -> Codes | None:
    """Return the codes of a concat for all codes of an input, or None if no code changes."""
    plain = rescale_table(source, output)
    ratio = source.delta / output.delta
    if plain is None or source.bits != 8 or output.bitwidth != 8 or ratio > 1 + 1 / _ONE:
        return plain
    gain, offset = _gain_and_offset(source, output)
    if gain >= _COPIES and offset == 0:
        return None
    fine = ((np.arange(256, dtype=np.int64) * gain) >> 8) + offset
    codes = (np.clip(fine, -(1 << 15), _ONE) + 64) >> 7
    joined: Codes = codes.clip(0, 255).astype(output.dtype)
    return joined


def _gain_and_offset(source: Operand, output: Encoding) -> tuple[int, int]:
    """Cut, not rounded, so the last place of a float32 counts: as the library, in float32."""
    own = source.encoding
    lowest, least = np.float32(own.min), np.float32(output.min)
    step = (np.float32(own.max) - lowest) / np.float32(255)
    per_step = np.float32(255) / (np.float32(output.max) - least)
    gain = min(int(per_step * step * np.float32(1 << 15)), _ONE)
    return gain, int((lowest - least) * per_step * np.float32(128))


def compared_table(source: Operand, output: Encoding, clamp: Clamp) -> Codes | None:
    """Return the codes that maximum and minimum compare, or None if no code changes."""
    plain = rescale_table(source, output, clamp)
    factor = math.floor(source.delta / output.delta * (1 << _COMPARED_BITS) + 0.5)
    same = (source.delta, source.zero_point) == (output.delta, output.zero_point)
    if plain is None or same or source.bits != 8 or output.bitwidth != 8 or factor >= 1 << 16:
        return plain
    distances = (np.arange(256, dtype=np.int64) - source.zero_point) * factor
    rounded = (distances + (1 << _COMPARED_BITS >> 1)) >> _COMPARED_BITS
    low, high = clamp_codes(clamp, output)
    return (rounded + output.zero_point).clip(low, high).astype(output.dtype)
