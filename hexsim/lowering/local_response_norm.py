"""LocalResponseNorm: of 8-bit codes as Hexagon NN computes it, else by a table of the power.

Hexagon NN computes x * 2^(sigma - beta * log2 s). For 16-bit operands, and what it does not take,
the sum of squares is exact and the power interpolated in a table (docs/reference/arithmetic.md).
Its knots lie at every sum below 64 and at 64 equal steps in each octave above, because the power is
smooth in the logarithm: linear interpolation is then within beta * (beta + 1) / 8 / 64^2 of it,
relative.
"""

import math
from functools import cache

import numpy as np
import numpy.typing as npt

from hexsim.errors import HexsimError
from hexsim.layers import LocalResponseNorm
from hexsim.lowering.functions import minimax_parabolas
from hexsim.lowering.headroom import largest_distance, requantize_sums
from hexsim.lowering.lowered_call import Int64, LoweredCall, Operand
from hexsim.lowering.requantize import Requantize, rounded
from hexsim.lowering.source import Lowerings, QuantizedSource
from hexsim.records import dataclass

UNITS = 15
"""Fraction bits of logarithms, powers and beta (Hexagon NN)."""
EIGHTHS = 12
"""Places from 2^15 to eighths, the last three of which a rounding shift takes (Hexagon NN)."""
MOST_RIGHT = 28
"""From it on every product is shifted to 0 or -1, which round to 0."""
_LARGEST_SUM = 1 << 31
"""s stays below (our choice; to the library 2^32, above which it scales by bias^-beta alone)."""
_LARGEST_LOGARITHM = 1 << 9
"""Bound of sigma in units of one, well beyond those of encodings in use (our choice)."""


@dataclass(frozen=True, kw_only=True, eq=False)
class LoweredByteResponseNorm(LoweredCall):
    """`size` channels make a window; `kappa`, `beta` and `sigma` make their powers."""

    size: int
    kappa: int
    beta: int
    sigma: int


def lower_byte_response_norm(
    layer: LocalResponseNorm, x: Operand, output: Operand
) -> LoweredByteResponseNorm | None:
    """Return the constants; None for operands or numbers that Hexagon NN does not take."""
    if (x.bits, output.bits) != (8, 8) or not (0 < layer.beta <= 1 and layer.alpha > 0):
        return None
    weight = layer.alpha / layer.size * x.delta**2
    if not 0 < weight < math.inf or layer.bias / weight >= _LARGEST_SUM:
        return None
    kappa = math.floor(layer.bias / weight + 0.5)
    sigma = layer.beta * math.log2(weight) - math.log2(x.delta / output.delta)
    if not 1 <= kappa < _LARGEST_SUM - layer.size * 255**2 or abs(sigma) > _LARGEST_LOGARITHM:
        return None
    return LoweredByteResponseNorm(
        layer.name,
        (x,),
        output,
        size=layer.size,
        kappa=kappa,
        beta=math.ceil(math.ldexp(layer.beta, UNITS)),
        sigma=math.floor(math.ldexp(sigma, UNITS) + 0.5),
    )


@cache
def logarithm_parabolas() -> tuple[Int64, Int64, Int64]:
    """Return knots, slopes and bends of the 16 pieces, each int64 (16,).

    Those of the parabolas nearest to 2^15 * log2(1 + x), x = 0 .. 1, by the largest error of each
    piece. All but two are the library's; in the first piece it has a slope of 23622 and a bend
    of -5561, which changes 102 of 2048 values by one.
    """
    scales = np.array([[1], [1 << 3], [1 << 6]])
    parabolas = minimax_parabolas(lambda x: (1 << UNITS) * np.log2(1 + x)) * scales
    knots, slopes, bends = rounded(parabolas).astype(np.int64)
    return knots, slopes, bends


OCTAVE_BITS = 6
"""log2 of the knots per octave (our choice: an error of 1/25000 at beta 0.75)."""
_POWER_BITS = 17
"""Fewest fraction bits of the table, relative to its largest entry (our choice: fewer would blur
small powers)."""
_CODE_BITS = 3
"""Fraction bits of an output code that any product with an entry keeps (our choice)."""
_LARGEST_POWER = (1 << 36) - 1
"""A limit that lets all products fit an int64; by the above one of it is beyond all codes."""
_FRACTION_BITS = 16
"""Fraction bits of the sum that is requantised."""


@dataclass(frozen=True, kw_only=True, eq=False)
class LoweredLocalResponseNorm(LoweredCall):
    """`powers` are F at the knots, `size` channels make a window; `stage` has one entry."""

    size: int
    powers: Int64
    stage: Requantize


def lower_local_response_norm(
    layer: LocalResponseNorm, source: QuantizedSource
) -> LoweredLocalResponseNorm | LoweredByteResponseNorm:
    """Turn a local response norm into integers; HexsimError if its bias is not positive."""
    _, inputs, output = source.operands(layer)
    if layer.bias <= 0:
        raise HexsimError(
            f"layer '{layer.name}': the bias of a local response norm is {layer.bias}; "
            "the integer kernel needs a positive one"
        )
    of_bytes = lower_byte_response_norm(layer, inputs[0], output)
    return of_bytes or lower_interpolated_norm(layer, inputs[0], output)


def lower_interpolated_norm(
    layer: LocalResponseNorm, x: Operand, output: Operand
) -> LoweredLocalResponseNorm:
    """Return the constants for operands of any width and any positive bias."""
    weight = layer.alpha / layer.size * x.delta**2
    knots = power_knots(layer.size * x.encoding.steps**2).astype(np.float64)
    relative = (1 + weight / layer.bias * knots) ** -layer.beta
    # Of a sum of zero every product is zero, whatever the power.
    largest = float(relative[1:].max())
    gain = x.delta * layer.bias**-layer.beta * largest
    farthest = largest_distance(x)
    bits = max(_POWER_BITS, math.frexp(farthest * gain / output.delta)[1] + _CODE_BITS)
    powers = np.minimum(rounded(np.ldexp(relative / largest, bits)), _LARGEST_POWER)
    return LoweredLocalResponseNorm(
        layer.name,
        (x,),
        output,
        size=layer.size,
        powers=powers.astype(np.int64),
        stage=requantize_sums(
            layer.name,
            math.ldexp(gain, -bits),
            farthest * int(powers[1:].max()),
            output.encoding,
            fraction_bits=_FRACTION_BITS,
        ),
    )


def power_knots(largest: int) -> npt.NDArray[np.int64]:
    """Return the sums of squares at which the table has knots, enough for 0 .. `largest`."""
    per_octave = 1 << OCTAVE_BITS
    octaves = max(largest.bit_length() - OCTAVE_BITS, 0)
    above = [(per_octave + np.arange(per_octave, dtype=np.int64)) << n for n in range(octaves)]
    end = np.array([per_octave << octaves], np.int64)
    return np.concatenate([np.arange(per_octave, dtype=np.int64), *above, end])


LOWERINGS: Lowerings = {LocalResponseNorm: lower_local_response_norm}
