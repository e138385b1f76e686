"""The requantise stages at the end of kernels that accumulate (see hexsim.lowering.requantize)."""

import numpy as np

from hexsim.int8.machine_code.jit import inlined


@inlined
def requantize(accumulator: int, multiplier: int, shift: int, low: int, high: int) -> np.uint8:
    """Return the code of one accumulator; all int32, the result a u8 in low .. high.

    Saturation of the left shift is decided before shifting, in 32 bits, which vectorises better
    than a comparison in 64.
    """
    shifted = np.int32(accumulator << shift)
    if accumulator > np.int32(0x7FFFFFFF) >> shift:
        shifted = np.int32(0x7FFFFFFF)
    if accumulator < np.int32(-0x80000000) >> shift:
        shifted = np.int32(-0x80000000)
    product = np.int64(shifted) * np.int64(multiplier) + np.int64(1 << 30)
    code = np.int32(product >> np.int64(31))
    return np.uint8(min(max(code, low), high))  # type: ignore[arg-type]


@inlined
def requantize_16bit(
    accumulator: int, multiplier: int, shift: int, fraction_bits: int, low: int, high: int
) -> int:
    """Return the code of an int64 accumulator with fraction bits; the multiplier is int32."""
    integer = accumulator >> np.int64(fraction_bits)
    rest = np.int32(accumulator - (integer << np.int64(fraction_bits)))
    saturated = np.int32(min(max(integer, np.int64(-0x80000000)), np.int64(0x7FFFFFFF)))
    shifted = np.int32(saturated << shift)
    if saturated > np.int32(0x7FFFFFFF) >> shift:
        shifted = np.int32(0x7FFFFFFF)
    if saturated < np.int32(-0x80000000) >> shift:
        shifted = np.int32(-0x80000000)
    more = np.int64(rest) * np.int64(multiplier)
    right = np.int64(fraction_bits + 16 - shift)
    more = more >> max(right, np.int64(0)) << max(-right, np.int64(0))
    total = np.int64(shifted) * np.int64(multiplier) + (more << np.int64(16)) + np.int64(1 << 30)
    code = total >> np.int64(31)
    return min(max(code, low), high)  # type: ignore[return-value]
