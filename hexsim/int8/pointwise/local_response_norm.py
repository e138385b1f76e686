"""LocalResponseNorm of 8-bit codes as Hexagon NN computes it; others: hexsim.int8.sixteen_bit.

A pixel goes through short loops over its channels, each of which LLVM turns into vectors; only the
table lookups go channel by channel. A slope and a bend share a word, to be read together.
"""

from typing import Any, NamedTuple

import numpy as np

from hexsim.int8.machine_code.arguments import record
from hexsim.int8.machine_code.inner_loops.codes import bits_of_float
from hexsim.int8.machine_code.jit import inlined, kernel
from hexsim.int8.step import ROWS, Buffers, Preparers, Scratch, Step, Steps, unpacked
from hexsim.lowering.local_response_norm import (
    EIGHTHS,
    MOST_RIGHT,
    UNITS,
    LoweredByteResponseNorm,
    logarithm_parabolas,
)
from hexsim.lowering.lowered_call import Codes, Int32, Int64
from hexsim.lowering.normalization import coefficients

_EXPONENT_OF_ONE = 127
_FRACTION_BITS = 23
"""Fraction bits of an IEEE float32."""


@inlined
def sum_squares(row: Codes, zero_point: int, size: int, squares: Int32, sums: Int32) -> None:
    """Write the sum over the `size` channels around each one; those that do not exist are zero.

    `squares` has zeros for them, `size` - 1 in all, and is overwritten between these.
    """
    channels = row.size
    behind = (size - 1) // 2
    middle = squares[behind : behind + channels]
    for c in range(channels):
        distance = np.int32(np.int32(row[c]) - zero_point)
        middle[c] = np.int32(distance * distance)
    sums[:] = 0
    for tap in range(0, size - 1, 2):
        square, next_square = squares[tap : tap + channels], squares[tap + 1 : tap + 1 + channels]
        for c in range(channels):
            sums[c] = np.int32(sums[c] + np.int32(square[c] + next_square[c]))
    if size % 2:
        square = squares[size - 1 : size - 1 + channels]
        for c in range(channels):
            sums[c] = np.int32(sums[c] + square[c])


@inlined
def exponent(number: int) -> np.int32:
    """Return the place of the highest bit of a positive int32."""
    # No two bits in a row, so that the float is not rounded up to the next power of two.
    sparse = np.int32(number & np.int32(~(number >> np.int32(1))))
    biased = np.int32(bits_of_float(sparse) >> np.int32(_FRACTION_BITS))
    return np.int32(biased - np.int32(_EXPONENT_OF_ONE))


_HALF = 1 << (UNITS - 1)
_PIECE_BITS = 11
"""Bits of a place in one of 16 pieces of 15 bits."""
_PIECE_MASK = (1 << _PIECE_BITS) - 1
_TOP = 30
"""Highest bit of a positive int32."""


@record("int32[::1],int32[::1],int32[::1],int32[::1],int32[::1],int32[::1],int32[::1]")
class ByteLines(NamedTuple):
    """Scratch for the channels of a pixel; squares have a window's neighbours on both sides."""

    squares: Any
    sums: Any
    exponents: Any
    pieces: Any
    rests: Any
    knots: Any
    curves: Any


@unpacked
def response_norm(call: LoweredByteResponseNorm, at: Buffers) -> Steps:
    """Normalisation across the channels around each channel."""
    zero_points = call.inputs[0].zero_point, call.output.zero_point
    numbers = (*zero_points, call.size, call.kappa, call.beta, call.sigma)
    tables = np.concatenate([_table(*logarithm_parabolas()), _table(*coefficients())])
    channels = at.output.shape[-1]
    pixels = at.output.reshape(-1, channels)
    squares, row = Scratch(channels + call.size - 1, np.int32), Scratch(channels, np.int32)
    arguments = (
        at.inputs[0].reshape(-1, channels), np.array(numbers, np.int32), tables, pixels, *ROWS,
        ByteLines(squares, row, row, row, row, row, row),
    )  # fmt: skip
    return [Step(_response_norm, arguments, len(pixels))]


def _table(knots: Int64, slopes: Int64, bends: Int64) -> Int32:
    """Return the knots, and slopes with bends in their lower halves; int32 (2, 16)."""
    curves = (slopes << 16) + (bends & 0xFFFF)
    return np.stack([knots, curves]).astype(np.int32)


@inlined
def _look_up(table: Int32, pieces: Int32, knots: Int32, curves: Int32) -> None:
    for c in range(pieces.size):
        piece = np.uint32(pieces[c])
        knots[c] = table[0, piece]
        curves[c] = table[1, piece]


@inlined
def _parabola(knot: int, curve: int, rest: int) -> np.int32:
    """Return the value of a piece, all int32."""
    slope = np.int32(curve >> np.int32(16))
    bend = np.int32(np.int32(curve << np.int32(16)) >> np.int32(16))
    bent = np.int32(np.int32(np.int32(bend * rest) + np.int32(_HALF)) >> np.int32(UNITS))
    slope = np.int32(slope + bent)
    rise = np.int32(np.int32(np.int32(slope * rest) + np.int32(_HALF)) >> np.int32(UNITS))
    return np.int32(knot + rise)


@kernel("void(uint8[:,::1],int32[::1],int32[:,::1],uint8[:,::1],int64,int64,ByteLines)")
def _response_norm(
    x: Codes, constants: Int32, tables: Int32, out: Codes, first: int, last: int, lines: ByteLines
) -> None:
    zero_in, zero_out, size = constants[0], constants[1], np.int64(constants[2])
    kappa, beta, sigma = constants[3], constants[4], constants[5]
    logarithms, powers = tables[:2], tables[2:]
    squares, sums, exponents = lines.squares, lines.sums, lines.exponents
    pieces, rests, knots, curves = lines.pieces, lines.rests, lines.knots, lines.curves
    channels = x.shape[1]
    squares[:] = 0
    for pixel in range(first, last):
        row, codes = x[pixel], out[pixel]
        sum_squares(row, zero_in, size, squares, sums)
        for c in range(channels):
            total = np.int32(sums[c] + kappa)
            highest = exponent(total)
            exponents[c] = highest
            left = np.int32(np.int32(_TOP) - highest) & np.int32(31)
            mantissa = np.int32(np.int32(total << left) >> np.int32(UNITS)) & np.int32(0x7FFF)
            pieces[c] = mantissa >> np.int32(_PIECE_BITS)
            rests[c] = np.int32(np.int32(mantissa & np.int32(_PIECE_MASK)) << np.int32(1))
        _look_up(logarithms, pieces, knots, curves)
        for c in range(channels):
            logarithm = _parabola(knots[c], curves[c], rests[c])
            part = np.int32(np.int32(_HALF) - np.int32(beta * logarithm)) >> np.int32(UNITS)
            power = np.int32(sigma + np.int32(np.int32(beta * exponents[c]) - np.int32(part)))
            exponents[c] = np.int32(power >> np.int32(UNITS)) + np.int32(EIGHTHS)
            pieces[c] = np.int32(power & np.int32(0x7FFF)) >> np.int32(_PIECE_BITS)
            rests[c] = power & np.int32(_PIECE_MASK)
        _look_up(powers, pieces, knots, curves)
        for c in range(channels):
            factor = _parabola(knots[c], curves[c], rests[c])
            product = np.int32(np.int32(np.int32(row[c]) - zero_in) * factor)
            right = min(max(exponents[c], np.int32(0)), np.int32(MOST_RIGHT)) & np.int32(31)
            half = np.int32(np.int32(4) << right)
            places = np.int32(right + np.int32(3)) & np.int32(31)
            code = np.int32(np.int32(np.int32(product + half) >> places) + zero_out)
            codes[c] = min(max(code, np.int32(0)), np.int32(255))


PREPARERS: Preparers = {LoweredByteResponseNorm: response_norm}
