"""The shape in which weights are packed and sums are stored: steps of panels of channels."""

SUM_BYTES = 4
"""Bytes of a sum, by which kernels distinguish sums from codes."""
COLUMNS = 16
"""Output channels per panel of weights."""
STEP_BYTES = 4
"""Bytes of one pixel's activations, and of one channel's weights, that a step multiplies."""
GROUP = 4
"""Number of sums in 128 bits, within which AVX2 and AVX-512 interleave and pack."""


def together(remaining: int, most: int) -> int:
    """Return how many of `remaining` panels are computed at once: the most that fit.

    It is a power of two, and at most `most`, which is a power of two itself.
    """
    return min(most, 1 << (remaining.bit_length() - 1))
