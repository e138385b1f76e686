"""Sums of squares over the channels around each channel of a pixel."""

import numpy as np

from hexsim.int8.machine_code.inner_loops.float_bits import bits_of_float
from hexsim.int8.machine_code.jit import inlined
from hexsim.lowering.lowered_call import Codes, Int32

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
