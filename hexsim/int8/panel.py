"""The shape in which weights are packed and sums lie: steps of panels of channels."""

SUM_BYTES = 4
"""Bytes of a sum, by which kernels tell them from codes."""
COLUMNS = 16
"""Output channels per panel of weights."""
STEP_BYTES = 4
"""Bytes of one pixel's activations, and of one channel's weights, that a step multiplies."""
