"""The shape in which weights are packed and sums lie: steps of panels of channels."""

SUM_BYTES = 4
"""Bytes of a sum, by which kernels tell them from codes."""
COLUMNS = 16
"""Output channels per panel of weights."""
STEP_BYTES = 4
"""Bytes of one pixel's activations, and of one channel's weights, that a step multiplies."""
GROUP = 4
"""Sums of 128 bits, within which AVX2 and AVX-512 interleave and pack."""


def together(left: int, most: int) -> int:
    """How many panels are computed at once where so many are left: the power of two that fits.

    `most` is a power of two itself.
    """
    return min(most, 1 << (left.bit_length() - 1))
