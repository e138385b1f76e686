"""Softmax; of 8-bit codes as Hexagon NN computes it (hexsim.lowering.softmax).

With 16 bits, and where the output's encoding or the runtime is not Hexagon NN's, a table of
exponentials and one rounded division:

e(d)  = round(2^23 * exp(-delta_x * d)), d = largest code - code
D     = 2^16 * sum of e
code  = clamp(zy + floor((2 * e * scale + D) / (2 * D)), 0, largest code),
            scale = round(2^16 / delta_y), at most 2^38

Softmax of 8-bit codes as Hexagon NN computes it: powers of two, a 16-bit reciprocal.

For the distance d of a code from the largest of its row of n codes, with L = delta_x / ln 2 and
exponent(L) the least e with L < 2^e:

    b     = 7 - exponent(L), at most 31; k = min(round(L * 2^(b+8)), 32767); b < 0: k = 32767, b = 0
    P     = (256 * d * k) >> b,   whole = min(P >> 16, 31),   f = P mod 2^16
    m     = 2^15 * 2^(-f / 2^16) by 16 pieces of second degree (`power_of_two`)
    a     = max(2, least a with 2^a >= n)
    power = ((m << 16) >> a) >> whole                       31 - a fraction bits, added up
    share = min(rounded shift of power to the right by 16 - a, 32767);  m >> whole if a > 16

What a row then does with its sum is in hexsim.int8.pointwise.softmax.
"""

import math
from dataclasses import dataclass
from functools import cache

import numpy as np

from hexsim.layers import Softmax
from hexsim.lowering.functions import minimax_parabolas
from hexsim.lowering.lowered_call import Int32, Int64, LoweredCall
from hexsim.lowering.requantize import rounded
from hexsim.lowering.source import Lowerings, QuantizedSource

_PIECE_BITS = 12
"""Bits of f in a piece, of which the lowest is not used (Hexagon NN)."""
_S16_LIMIT = 32767
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
SCALE_BITS = 16
"""Fraction bits of 1 / delta_y (our choice: as exact as a code can show)."""
_LARGEST_SCALE = 1 << 38
"""A limit that lets 2 * e * scale + D fit an int64 for any delta_y; only steps below 2^-22 reach
it."""


@dataclass(frozen=True, kw_only=True, eq=False)
class LoweredSoftmax(LoweredCall):
    """`exponentials` has an entry for each code; the sum runs over stored axes `axes`."""

    axes: tuple[int, ...]
    exponentials: Int32
    scale: int


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
    return LoweredSoftmax(
        *call,
        axes=layer.axes,
        exponentials=table.astype(np.int32),
        scale=min(int((1 << SCALE_BITS) / call.output.delta + 0.5), _LARGEST_SCALE),
    )


LOWERINGS: Lowerings = {Softmax: lower_softmax}
