"""Normalization, batch norm and softmax, by the rules of docs/reference/arithmetic.md.

Normalization: exact sums, a reciprocal root of 31 bits, one requantise stage with 16 fraction bits.
The step of the input cancels, except in epsilon. Sums of more elements than 62 bits hold, and sums
that an epsilon exceeds, lose their lowest bits.

BatchNorm that is not part of a convolution: a signed 16-bit factor and a shift per channel, with 8
bits the constants of Hexagon NN. A step of the scale is at least 2^-15 * delta_y / delta_x, so that
the addend keeps its precision (Hexagon NN allows 2^-7 of that, with less precision, and refuses
others). An addend beyond 2^31 - 2^24 is limited to that; the codes are then outermost ones.

Softmax of 8-bit codes as Hexagon NN computes it: powers of two, a 16-bit reciprocal. With 16 bits,
and where the output's encoding or the runtime is not Hexagon NN's, a table of exponentials and one
rounded division. What a row does with its sum is in hexsim.int8.pointwise.normalization.
"""

import math
from functools import cache

import numpy as np
import numpy.typing as npt

from hexsim.graph.ir import Shape
from hexsim.layers import BatchNorm, Normalization, Softmax
from hexsim.layers.normalization import NormalizationKind
from hexsim.lowering.functions import minimax_parabolas
from hexsim.lowering.headroom import fitting_steps, largest_distance
from hexsim.lowering.lowered_call import Int32, Int64, LoweredCall, Operand, Real
from hexsim.lowering.requantize import Requantize, clamp_codes, requantize, rounded
from hexsim.lowering.source import Lowerings, QuantizedSource
from hexsim.quantization.encodings import Encoding
from hexsim.records import dataclass

ROOT_BITS = 31
"""Bits of the root and of its reciprocal (our choice: what one word holds)."""
_NORMAL_BITS = 20, 30
"""Fewest and most fraction bits of a normalised value (our choice: 20 are finer than a 16-bit code
of 32 deviations; with 30 the product with a factor fits an int64)."""
_CODE_BITS = 4
"""Fraction bits of a code that a normalised value keeps, if it has no more than the most."""
FRACTION_BITS = 16
"""Fraction bits of the sum that is requantised: k has 15 bits and T up to 41."""
_DISTANCE_BITS, _EPSILON_BITS = 30, 61
"""Bits of d and of E; both have fewer fraction bits rather than more bits, so that d * r and W fit
an int64."""
_S16_LIMIT = 32767


@dataclass(frozen=True, kw_only=True, eq=False)
class LoweredNormalization(LoweredCall):
    """`factors` and the preloads of `stage` have an entry for each element of `spread`.

    That is the shape of scale and shift, which broadcasts to the input. Distances lose `cut` bits
    and their squares twice as many, with `more` further bits; a normalised value has `normal_bits`.
    """

    kind: NormalizationKind
    axes: tuple[int, ...]
    cut: int
    more: int
    epsilon: int
    normal_bits: int
    spread: Shape
    factors: npt.NDArray[np.int16]
    stage: Requantize


def lower_normalization(layer: Normalization, source: QuantizedSource) -> LoweredNormalization:
    """Turn a normalisation into integers."""
    call = source.operands(layer)
    (x,) = call.inputs
    count = layer.count(x.shape)
    number = 1 if layer.kind == "length" else count
    cut = max(0, (number * x.encoding.steps).bit_length() - _DISTANCE_BITS)
    # A floor below the step of the codes changes no result but 0 / 0, which an epsilon makes 0 too.
    epsilon = math.ldexp((layer.epsilon + layer.floor**2) * (number / x.delta) ** 2, -2 * cut)
    more = max(0, (math.frexp(epsilon)[1] - _EPSILON_BITS + 1) // 2)
    scale, shift = _real_or(layer.scale, 1.0, source), _real_or(layer.shift, 0.0, source)
    spread = np.broadcast_shapes(scale.shape, shift.shape)
    largest = float(np.abs(scale).max()) or 1.0
    needed = math.frexp(largest / call.output.delta)[1] + _CODE_BITS - more
    normal_bits = min(max(needed, _NORMAL_BITS[0] - more, 0), _NORMAL_BITS[1])
    part = 2.0 ** -(normal_bits + more)
    bias = np.broadcast_to(shift, spread).reshape(-1)
    unit = _fitting_unit(largest / _S16_LIMIT, part, count, call.output, bias)
    factors = np.broadcast_to(rounded(scale / unit), spread)
    return LoweredNormalization(
        *call,
        kind=layer.kind,
        axes=layer.axes,
        cut=cut,
        more=more,
        epsilon=int(math.ldexp(epsilon, -2 * more) + 0.5),
        normal_bits=normal_bits,
        spread=spread,
        factors=factors.reshape(-1).astype(np.int16),
        stage=requantize(
            np.full(bias.shape, unit * part), call.output.encoding, layer.clamp, bias, FRACTION_BITS
        ),
    )


def _fitting_unit(unit: float, part: float, count: int, output: Operand, bias: Real) -> float:
    """Return the unit of the factors, a larger one if a shift does not fit the sum in it.

    A normalised value counts in `part`, and is at most the root of the number of elements that
    share its statistic.
    """
    sums = _S16_LIMIT * (math.sqrt(count) + 1) / part
    steps = np.full(bias.shape, unit * part)
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


_PIECE_BITS = 12
"""Bits of f in a piece, of which the lowest is not used (Hexagon NN)."""
_MOST_WHOLE = 31


@dataclass(frozen=True, kw_only=True, eq=False)
class LoweredByteSoftmax(LoweredCall):
    """`powers` and `shares` have an entry for each distance; the sum runs over stored `axes`.

    `sum_bits` is a. The output has the encoding of Hexagon NN, 0 .. 1.
    """

    axes: tuple[int, ...]
    powers: Int32
    shares: Int32
    sum_bits: int


def softmax_tables(delta: float, count: int) -> tuple[Int32, Int32, int]:
    """Return powers and shares of the distances 0 .. 255, and a, for rows of `count` codes."""
    whole_scale = delta / math.log(2)
    right = min(31, 7 - math.frexp(whole_scale)[1])
    factor = min(math.floor(math.ldexp(whole_scale, right + 8) + 0.5), _S16_LIMIT)
    if right < 0:
        right, factor = 0, _S16_LIMIT
    exponents = (256 * factor * np.arange(256, dtype=np.int64)) >> right
    whole = np.minimum(exponents >> 16, _MOST_WHOLE)
    values = power_of_two(exponents & 0xFFFF)
    bits = max(2, (count - 1).bit_length())
    powers = ((values << 16) >> bits) >> whole
    if bits > 16:
        shares = values >> whole
    else:
        shares = np.minimum((powers + ((1 << (16 - bits)) >> 1)) >> (16 - bits), _S16_LIMIT)
    return powers.astype(np.int32), shares.astype(np.int32), bits


def power_of_two(fractions: Int64) -> Int64:
    """Return m of f, 0 .. 65535: 2^15 * 2^(-f / 2^16), 16384 .. 32767."""
    knots, slopes, bends = coefficients()
    piece, rest = fractions >> _PIECE_BITS, (fractions & ((1 << _PIECE_BITS) - 1)) >> 1
    slope = slopes[piece] + ((bends[piece] * rest + (1 << 14)) >> 15)
    value: Int64 = knots[piece] + ((slope * rest + (1 << 14)) >> 15)
    return value


@cache
def coefficients() -> tuple[Int64, Int64, Int64]:
    """Return knots, slopes and bends of the 16 pieces, each int64 (16,).

    Those of the parabolas nearest to 2^(15-x), x = 0 .. 1, by the largest error of each piece; all
    are the library's.
    """
    scales = np.array([[1], [1 << 4], [1 << 8]])
    numbers = rounded(minimax_parabolas(lambda x: 2.0 ** (15 - x)) * scales).astype(np.int64)
    knots, slopes, bends = np.minimum(numbers, _S16_LIMIT)
    return knots, slopes, bends


EXPONENTIAL_BITS = 23
"""Fraction bits of e (our choice: a thousand classes at e^-12 still count)."""
_SCALE_BITS = 16
"""Fraction bits of 1 / delta_y (our choice: as exact as a code can show)."""
_LARGEST_SCALE_BITS = 38
"""A limit that lets 2 * e * scale + D fit an int64: steps below 2^-22 have fewer fraction bits, and
only those below 2^-38 reach it."""


@dataclass(frozen=True, kw_only=True, eq=False)
class LoweredSoftmax(LoweredCall):
    """`exponentials` has an entry for each code; the sum runs over stored axes `axes`.

    `scale` is 1 / delta_y with `scale_bits` fraction bits.
    """

    axes: tuple[int, ...]
    exponentials: Int32
    scale: int
    scale_bits: int


def lower_softmax(layer: Softmax, source: QuantizedSource) -> LoweredSoftmax | LoweredByteSoftmax:
    """Turn a softmax into integers."""
    call = source.operands(layer)
    if source.is_own("softmax", call.output.encoding):
        count = math.prod(call.output.shape[axis] for axis in layer.axes)
        powers, shares, sum_bits = softmax_tables(call.inputs[0].delta, count)
        return LoweredByteSoftmax(
            *call, axes=layer.axes, powers=powers, shares=shares, sum_bits=sum_bits
        )
    distance = np.arange(call.inputs[0].encoding.steps + 1, dtype=np.float64)
    table = rounded(np.exp(-call.inputs[0].delta * distance) * (1 << EXPONENTIAL_BITS))
    whole_bits = math.frexp(1 / call.output.delta)[1]
    bits = max(0, min(_SCALE_BITS, _LARGEST_SCALE_BITS - whole_bits))
    return LoweredSoftmax(
        *call,
        axes=layer.axes,
        exponentials=table.astype(np.int32),
        scale=min(int((1 << bits) / call.output.delta + 0.5), 1 << _LARGEST_SCALE_BITS),
        scale_bits=bits,
    )


LOWERINGS: Lowerings = {
    Normalization: lower_normalization,
    BatchNorm: lower_batch_norm,
    Softmax: lower_softmax,
}
