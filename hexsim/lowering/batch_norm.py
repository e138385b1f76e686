"""BatchNorm that is not part of a convolution: a signed 16-bit factor and a shift per channel.

acc = preload + factor * (x - zx), then one requantise stage. With 8 bits the constants are those of
Hexagon NN. Let d_s be the step of the scale, w = 128 * its distance from zero in that step (without
an encoding: d_s = largest |scale| / 255, w = round(128 * scale / d_s)), unit = delta_x * d_s / 128:

    R = unit / delta_y,  n = max(-exponent of R * (1 + 1.2 * 2^-16), 1),  rs = round(R * 2^(15+n))
    factor     = sat16((w * rs + 2^14) >> 15)
    addend     = ((round(shift / unit) - w * zx + round(zy * delta_y / unit)) * rs + 2^14) >> 15
    preload    = addend + factor * zx
    code       = clamp((acc + 2^(n-1)) >> n, low, high)       a multiplier of 2^(31-n), shift 0

d_s is at least 2^-15 * delta_y / delta_x, so that n <= 21 and the addend keeps its precision.
(Hexagon NN allows steps down to 2^-7 of that, with less precision, and refuses others.) An addend
beyond 2^31 - 2^24 is limited to that; the codes are then outermost ones.

With 16 bits factor = round(scale / step), step = largest |scale| / 32767, and the preload holds the
shift at the accumulator's step delta_x * step. If the shift of a channel does not fit the
accumulator in that step, its step is larger (hexsim.lowering.headroom).
"""

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from hexsim.layers import BatchNorm
from hexsim.lowering.headroom import fitting_steps, largest_distance
from hexsim.lowering.lowered_call import LoweredCall, Operand, Real
from hexsim.lowering.requantize import Requantize, clamp_codes, requantize, rounded
from hexsim.lowering.source import Lowerings, QuantizedSource
from hexsim.quantization.encodings import Encoding

_S16_LIMIT = 32767
_BITS = 8
"""Width of the codes for which Hexagon NN has a batch norm."""
_SCALE_STEPS = 255
"""Steps of a scale without encoding, those of a code (our choice; Hexagon NN's are in codes)."""
_SMALLEST_STEP = 2.0**-15
"""Least delta_x * d_s / delta_y (our choice)."""
_MARGIN = 1.00001831
"""Keeps rs below 2^15 (Hexagon NN: 1 + 1.2 * 2^-16)."""
_LARGEST_ADDEND = (1 << 31) - (1 << 24)
"""A product of a code and a factor, below 2^23, added to it fits an int32."""


@dataclass(frozen=True, kw_only=True, eq=False)
class LoweredBatchNorm(LoweredCall):
    """`factors` and `stage` have one entry per channel of the last stored axis."""

    factors: npt.NDArray[np.int16]
    stage: Requantize


def lower_batch_norm(layer: BatchNorm, source: QuantizedSource) -> LoweredBatchNorm:
    """Turn a batch norm into integers."""
    call = source.operands(layer)
    (x,) = call.inputs
    scale, shift = source.real(layer.scale), source.real(layer.shift)
    if x.bits == _BITS:
        given = source.model.parameters.get(layer.scale)
        step = given.delta if isinstance(given, Encoding) else None
        factors, preload, bits = _narrow_constants(scale, step, shift, x, call.output)
        multipliers = np.full(scale.shape, 1 << (31 - bits), np.int32)
        limits = clamp_codes(layer.clamp, call.output.encoding)
        stage = Requantize(preload, multipliers, np.zeros(scale.shape, np.int32), *limits)
    else:
        step = (float(np.abs(scale).max()) or 1.0) / _S16_LIMIT
        steps = np.full(scale.shape, x.delta * step)
        sums = largest_distance(x) * np.abs(rounded(scale / step))
        fitting = fitting_steps(steps, sums, call.output.encoding, shift, x.bits - 8)
        factors = rounded(scale / (step * (fitting / steps))).astype(np.int16)
        stage = requantize(fitting, call.output.encoding, layer.clamp, shift, x.bits - 8)
    return LoweredBatchNorm(*call, factors=factors, stage=stage)


def _narrow_constants(
    scale: Real, step: float | None, shift: Real, x: Operand, output: Operand
) -> tuple[npt.NDArray[np.int16], npt.NDArray[np.int32], int]:
    """Return factors and preloads per channel, and the bits of a code's fraction."""
    if step is None:
        step = float(np.abs(scale).max()) / _SCALE_STEPS
    step = max(step, _SMALLEST_STEP * output.delta / x.delta)
    weights = rounded(scale / step * 128)
    unit = x.delta * step / 128
    ratio = unit / output.delta
    bits = max(-int(np.frexp(ratio * _MARGIN)[1]), 1)
    gain = rounded(np.ldexp([ratio], 15 + bits))
    addends = rounded(shift / unit) - weights * x.zero_point
    addends = addends + rounded(np.array([output.zero_point * output.delta / unit]))
    addends = np.clip(_over_2_15(addends * gain), -_LARGEST_ADDEND, _LARGEST_ADDEND)
    factors = np.clip(_over_2_15(weights * gain), -_S16_LIMIT - 1, _S16_LIMIT)
    preload = (addends + factors * x.zero_point).astype(np.int32)
    return factors.astype(np.int16), preload, bits


def _over_2_15(numbers: Real) -> Real:
    """Return whole numbers divided by 2^15 and rounded; exact up to 2^53."""
    return rounded(numbers * 2.0**-15)


LOWERINGS: Lowerings = {BatchNorm: lower_batch_norm}
