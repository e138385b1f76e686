"""Normalization: exact sums, a reciprocal root of 31 bits, one requantise stage.

n, S, Q  number, sum and sum of squares of x - zx among the elements that share a statistic
               deviation           mean_square     length
d              n * (x - zx) - S    n * (x - zx)    x - zx
V              n * Q - S^2         n * Q           Q
E              round(epsilon / delta_x^2 * n^2)    round(epsilon / delta_x^2), at most 2^61
W    = V + E, e the even number with 2^60 <= W * 2^e < 2^62
r    = floor(2^61 / floor(sqrt(W * 2^e)))
s    = 41 - e / 2
T    = (d * r + 2^(s - 1)) >> s, and 0 where W = 0
A    = preload + k * T, requantised with 16 fraction bits

T is d / sqrt(W) with 20 fraction bits; k = round(scale / unit) with unit = largest |scale| / 32767.
The step of the input cancels, except in epsilon. If a shift does not fit the sum, unit is larger
(hexsim.lowering.headroom).

BatchNorm that is not part of a convolution: a signed 16-bit factor and a shift per channel.

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

import math
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from hexsim.errors import HexsimError
from hexsim.graph.ir import Shape
from hexsim.layers import BatchNorm, Normalization
from hexsim.layers.normalization import NormalizationKind
from hexsim.lowering.headroom import fitting_steps, largest_distance
from hexsim.lowering.lowered_call import LoweredCall, Operand, Real
from hexsim.lowering.requantize import Requantize, clamp_codes, requantize, rounded
from hexsim.lowering.source import Lowerings, QuantizedSource
from hexsim.quantization.encodings import Encoding

ROOT_BITS = 31
"""Bits of the root and of its reciprocal (our choice: what one word holds)."""
NORMAL_BITS = 20
"""Fraction bits of a normalised value (our choice: finer than a 16-bit code of 32 deviations)."""
FRACTION_BITS = 16
"""Fraction bits of the sum that is requantised: k has 15 bits and T up to 31."""
_LARGEST_EPSILON = 1 << 61
_LARGEST_DISTANCE = 1 << 30
"""A limit that lets d * r and n * Q fit an int64."""
_S16_LIMIT = 32767


@dataclass(frozen=True, kw_only=True, eq=False)
class LoweredNormalization(LoweredCall):
    """`factors` and the preloads of `stage` have an entry for each element of `spread`.

    That is the shape of scale and shift, which broadcasts to the input.
    """

    kind: NormalizationKind
    axes: tuple[int, ...]
    epsilon: int
    spread: Shape
    factors: npt.NDArray[np.int16]
    stage: Requantize


def lower_normalization(layer: Normalization, source: QuantizedSource) -> LoweredNormalization:
    """Turn a normalisation into integers; HexsimError if its sums might not fit 64 bits."""
    call = source.operands(layer)
    (x,) = call.inputs
    count = layer.count(x.shape)
    if count * x.encoding.steps >= _LARGEST_DISTANCE:
        raise HexsimError(
            f"layer '{layer.name}' normalises {count} elements of {x.bits} bits at a time, more "
            "than the integer kernel adds up; run the layer on the cpu"
        )
    scale, shift = _real_or(layer.scale, 1.0, source), _real_or(layer.shift, 0.0, source)
    spread = np.broadcast_shapes(scale.shape, shift.shape)
    unit = (float(np.abs(scale).max()) or 1.0) / _S16_LIMIT
    bias = np.broadcast_to(shift, spread).reshape(-1)
    unit = _fitting_unit(unit, count, call.output, bias)
    factors = np.broadcast_to(rounded(scale / unit), spread)
    squares = 1 if layer.kind == "length" else count**2
    # A floor below the step of the codes changes no result but 0 / 0, which an epsilon makes 0 too.
    epsilon = (layer.epsilon + layer.floor**2) * squares / x.delta**2
    return LoweredNormalization(
        *call,
        kind=layer.kind,
        axes=layer.axes,
        epsilon=int(min(epsilon + 0.5, float(_LARGEST_EPSILON))),
        spread=spread,
        factors=factors.reshape(-1).astype(np.int16),
        stage=requantize(
            np.full(bias.shape, unit * 2.0**-NORMAL_BITS),
            call.output.encoding,
            layer.clamp,
            bias,
            FRACTION_BITS,
        ),
    )


def _fitting_unit(unit: float, count: int, output: Operand, bias: Real) -> float:
    """Return the unit of the factors, a larger one if a shift does not fit the sum in it.

    A normalised value is at most the root of the number of elements that share its statistic.
    """
    sums = _S16_LIMIT * (math.sqrt(count) + 1) * 2.0**NORMAL_BITS
    steps = np.full(bias.shape, unit * 2.0**-NORMAL_BITS)
    fitting = fitting_steps(steps, sums, output.encoding, bias, FRACTION_BITS)
    return unit * float((fitting / steps).max())


def _real_or(name: str | None, value: float, source: QuantizedSource) -> Real:
    return np.array([value]) if name is None else source.real(name)


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
        encoding = source.model.parameters.get(layer.scale)
        step = encoding.delta if isinstance(encoding, Encoding) else None
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


LOWERINGS: Lowerings = {
    Normalization: lower_normalization,
    BatchNorm: lower_batch_norm,
}
