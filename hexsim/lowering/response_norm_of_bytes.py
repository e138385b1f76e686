"""LocalResponseNorm of 8-bit codes as Hexagon NN computes it: y = x * 2^(sigma - beta * log2 s).

With a = alpha / size * delta_x^2 and S the sum of (x - zx)^2 over the channels of the window:

    kappa = round(bias / a),   beta = ceil(beta * 2^15)
    sigma = round((beta * log2 a - log2(delta_x / delta_y)) * 2^15)    of the real beta
    s     = kappa + S,   e = floor(log2 s)
    v     = 2^15 * log2(s / 2^e) by 16 parabolas (`logarithm_parabolas`)
    X     = sigma + beta * e - ((2^14 - beta * v) >> 15)
    m     = 2^15 * 2^-((X mod 2^15) / 2^15) by 16 parabolas (hexsim.lowering.softmax_of_bytes)
    right = clamp((X >> 15) + 12, 0, 28)
    code  = zy + (((((x - zx) * m) >> right) + 4) >> 3)
"""

import math
from dataclasses import dataclass
from functools import cache

import numpy as np

from hexsim.layers import LocalResponseNorm
from hexsim.lowering.lowered_call import Int64, LoweredCall, Operand
from hexsim.lowering.parabolas import minimax_parabolas
from hexsim.lowering.requantize import rounded

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
    """`size` channels make a window; `kappa`, `beta` and `sigma` as above."""

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
