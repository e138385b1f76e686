"""Sigmoid and tanh of 8-bit codes: 16 polynomials of the second degree, in 16 bits.

The magnitude of the input, counted in 2^-13 of 0.8 (tanh) or of 1.6 (sigmoid), is

    p = min((|x - zx| * k + (2^s >> 1)) >> s, 32767)
    g = delta_x * 10240 (tanh) or delta_x * 5120 (sigmoid),   k = round(g * 2^s) at most 32767,
    s = 15 - max(exponent of g, 0); beyond s = 0 it is k = 32767, s = 0

so that p covers 0 .. 3.2 (tanh), 0 .. 6.4 (sigmoid) in 16 pieces of 2048. In a piece, t = p mod
2048 and

    v = knot + ((4 * t * (slope + ((bend * t + 2^14) >> 15)) + 2^14) >> 15)
    r = v + 1 for x >= zx, else -v                      units of 1 / T
    tanh = r / T, T = 254 * 128;   sigmoid = (r + T) / (2 * T), T = 255 * 128

coded for the ranges that Hexagon NN gives to its results (-1 .. 128/127 and 0 .. 1), in which a
code is 256 units; the codes are those of Hexagon NN. An output with any other encoding, which
Hexagon NN does not have, gets the exact function instead (`hexsim.lowering.lookup`): the
polynomials end at 6.4, where a sigmoid is still 0.0017, most of the range of scores at rest.
"""

from functools import cache
from typing import Literal

import numpy as np

from hexsim.lowering.lowered_call import Codes, Int64, Operand
from hexsim.lowering.requantize import rounded
from hexsim.quantization.encodings import Encoding

SquashingFunction = Literal["sigmoid", "tanh"]

PIECES = 16
_PIECE = 1 << 11
"""Values of p in a piece."""
_REACH = 3.2
"""Where the last piece of tanh ends (Hexagon NN; tanh is there within half a code of one)."""
_FULL = {"tanh": 254 * 128, "sigmoid": 255 * 128}
"""T by function: the value that stands for one, 256 units for half a step (Hexagon NN)."""
_GAIN = {"tanh": 10240.0, "sigmoid": 5120.0}
"""Values of p in a real unit of the input (Hexagon NN: 16 * 2048 over the reach)."""
_SAMPLES = 64
"""Points of a piece at which the polynomials are fitted (our choice; with 64 all coefficients
round to those of Hexagon NN)."""
_CODE_BITS = 8
"""Units of a code have so many bits (Hexagon NN)."""
_S16_LIMIT = 32767


def squashed_codes(function: SquashingFunction, x: Operand, output: Encoding) -> Codes:
    """Return the code for each of the 256 codes of `x`, of an output with Hexagon NN's range."""
    factor, shift = _input_scale(x.delta * _GAIN[function])
    distances = np.arange(x.encoding.steps + 1, dtype=np.int64) - x.zero_point
    magnitudes = (np.abs(distances) * factor + ((1 << shift) >> 1)) >> shift
    values = polynomial_values(function, np.minimum(magnitudes, _S16_LIMIT))
    units = np.where(distances < 0, -values, values + 1)
    if function == "sigmoid":
        units = units + _FULL[function]
    codes = output.zero_point + ((units + (1 << (_CODE_BITS - 1))) >> _CODE_BITS)
    return codes.clip(0, output.steps).astype(output.dtype)


def polynomial_values(function: SquashingFunction, magnitudes: Int64) -> Int64:
    """Return v of p, 0 .. 32767."""
    knots, slopes, bends = coefficients(function)
    piece, rest = magnitudes // _PIECE, magnitudes % _PIECE
    slope = slopes[piece] + ((bends[piece] * rest + (1 << 14)) >> 15)
    value: Int64 = knots[piece] + ((4 * rest * slope + (1 << 14)) >> 15)
    return value


@cache
def coefficients(function: SquashingFunction) -> tuple[Int64, Int64, Int64]:
    """Return knots, slopes and bends of the 16 pieces, each int64 (16,).

    The pieces are the continuous quadratic spline nearest to T * tanh by least squares that is
    exact at both ends. (A sigmoid is a tanh of half its argument, so its pieces are the same but
    for T.) With a piece knot + rise * u + bulge * u * (u - 1), u = 0 .. 1, the slope is
    4 * (rise - bulge) and the bend 64 * bulge.
    """
    full = _FULL[function]
    inside = (np.arange(_SAMPLES) + 0.5) / _SAMPLES
    columns = np.zeros((PIECES * _SAMPLES, 2 * PIECES + 1))
    for piece in range(PIECES):
        rows = slice(piece * _SAMPLES, (piece + 1) * _SAMPLES)
        columns[rows, piece], columns[rows, piece + 1] = 1 - inside, inside
        columns[rows, PIECES + 1 + piece] = inside * (inside - 1)
    positions = (np.arange(PIECES)[:, None] + inside).ravel() * (_REACH / PIECES)
    end = full * np.tanh(_REACH)
    wanted = full * np.tanh(positions) - end * columns[:, PIECES]
    free = np.delete(columns, [0, PIECES], axis=1)
    solution = np.linalg.lstsq(free, wanted, rcond=None)[0]
    knots = np.concatenate([[0.0], solution[: PIECES - 1], [end]])
    bulges = solution[PIECES - 1 :]
    slopes = 4 * (np.diff(knots) - bulges)
    knots, slopes, bends = (
        rounded(reals).astype(np.int64) for reals in (knots[:-1], slopes, 64 * bulges)
    )
    return knots, slopes, bends


def _input_scale(gain: float) -> tuple[int, int]:
    """Return k and s for a `gain` of p per code."""
    shift = 15 - max(int(np.frexp(gain)[1]), 0)
    if shift < 0:
        return _S16_LIMIT, 0
    return min(int(np.floor(gain * 2.0**shift + 0.5)), _S16_LIMIT), shift
